//! An authority, a server certificate and a token that the server makes for itself, kept in one directory.
//!
//! | file | content | mode |
//! |---|---|---|
//! | `ca.crt` | certificate of the authority, for clients | 0644 |
//! | `ca.key` | its key | 0600 |
//! | `server.pem` | certificate and key of the server | 0600 |
//! | `token` | the bearer token of the user `admin` | 0600 |
//!
//! Only what is missing, about to expire, or not valid for the names is written. The authority keeps its key when its
//! certificate is renewed, so that clients with the old certificate trust the server until that one expires.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::security::{SecurityError, bad_file};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Clients whose clock is slow accept a new certificate.
const CLOCK_SKEW: Duration = Duration::from_secs(60 * 60);
const SERVER_VALID: Duration = DAY.saturating_mul(90);
const SERVER_RENEWED_BEFORE: Duration = DAY.saturating_mul(30);
/// Copies of this certificate are in the kubeconfigs of all clients.
const AUTHORITY_VALID: Duration = DAY.saturating_mul(3650);
const AUTHORITY_RENEWED_BEFORE: Duration = DAY.saturating_mul(365);
const TOKEN_BYTES: usize = 32;
/// The user of the token.
pub(super) const USER: &str = "admin";

/// Where the files are, and for which names the certificate is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfSigned {
    dir: PathBuf,
    names: BTreeSet<String>,
}

/// A host name or an address as it can stand in a certificate.
///
/// # Errors
/// It is neither, for example because it has a scheme or a port.
pub fn host_name(text: &str) -> Result<String, String> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    match ServerName::try_from(bare) {
        Ok(_) => Ok(bare.to_ascii_lowercase()),
        Err(_) => Err("not a host name or an address, such as build.example.com or 192.0.2.7".to_owned()),
    }
}

impl SelfSigned {
    /// Files in `dir`, for `localhost`, loopback, the address of the listener, and further names.
    pub fn new(dir: PathBuf, listen: IpAddr, hosts: &[String]) -> SelfSigned {
        let mut names: BTreeSet<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
        if !listen.is_unspecified() {
            names.insert(listen.to_string());
        }
        names.extend(hosts.iter().cloned());
        SelfSigned { dir, names }
    }

    /// The files of a running server, for its clients.
    pub fn at(dir: PathBuf) -> SelfSigned {
        SelfSigned { dir, names: BTreeSet::new() }
    }

    /// Where the files are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The certificate of the authority, PEM.
    pub fn authority(&self) -> PathBuf {
        self.dir.join("ca.crt")
    }

    /// The file with the token and nothing else.
    pub fn token(&self) -> PathBuf {
        self.dir.join("token")
    }

    /// Certificate and key of the server, PEM.
    pub(super) fn server(&self) -> PathBuf {
        self.dir.join("server.pem")
    }

    /// Whether clients that trust the authority accept the server under a name.
    pub fn is_valid_for(&self, name: &str) -> bool {
        let Ok(name) = ServerName::try_from(name.to_owned()) else { return false };
        let Ok(authority) = CertificateDer::from_pem_file(self.authority()) else { return false };
        let Ok(server) = CertificateDer::from_pem_file(self.server()) else { return false };
        verify(&authority, &server, &name, SystemTime::now()).is_ok()
    }

    /// Makes what is missing, and renews what expires soon.
    pub(super) fn ensure(&self, now: SystemTime) -> Result<(), SecurityError> {
        make_dir(&self.dir).map_err(|error| bad_file(&self.dir, error))?;
        let key = self.authority_key()?;
        let authority = self.authority_certificate(&key, now)?;
        let good = CertificateDer::from_pem_file(self.server())
            .is_ok_and(|server| self.accepted(&authority, &server, now + SERVER_RENEWED_BEFORE).is_ok());
        if !good {
            let (server, text) = self.issue(&key, now).map_err(|error| bad_file(&self.server(), error))?;
            // A key and a certificate that do not belong together would lock every client out.
            self.accepted(&authority, &server, now).map_err(|error| self.unusable("ca.crt", error))?;
            self.write("server.pem", &text, 0o600)?;
            tracing::info!(names = ?self.names, file = %self.server().display(), "made a server certificate");
        }
        self.ensure_token()
    }

    /// The key of the authority, made if there is none.
    fn authority_key(&self) -> Result<KeyPair, SecurityError> {
        match read(&self.dir.join("ca.key"))? {
            Some(text) => KeyPair::from_pem(&text).map_err(|error| self.unusable("ca.key", error)),
            None => {
                let key = KeyPair::generate().map_err(|error| self.unusable("ca.key", error))?;
                self.write("ca.key", &key.serialize_pem(), 0o600)?;
                Ok(key)
            }
        }
    }

    /// The certificate of the authority, made if there is none or it expires soon.
    fn authority_certificate(
        &self,
        key: &KeyPair,
        now: SystemTime,
    ) -> Result<CertificateDer<'static>, SecurityError> {
        if let Some(text) = read(&self.authority())? {
            let found = CertificateDer::from_pem_slice(text.as_bytes())
                .map_err(|error| self.unusable("ca.crt", error))?;
            let (_, parsed) =
                X509Certificate::from_der(&found).map_err(|error| self.unusable("ca.crt", error))?;
            let renewed_at = seconds(now + AUTHORITY_RENEWED_BEFORE);
            if u64::try_from(parsed.validity().not_after.timestamp()).is_ok_and(|end| end > renewed_at) {
                return Ok(found);
            }
        }
        let made = authority_parameters(now).self_signed(key);
        let made = made.map_err(|error| self.unusable("ca.crt", error))?;
        self.write("ca.crt", &made.pem(), 0o644)?;
        tracing::info!(file = %self.authority().display(), "made an authority for certificates");
        Ok(made.der().clone())
    }

    /// A new certificate of the server, and the text of its file.
    fn issue(
        &self,
        authority: &KeyPair,
        now: SystemTime,
    ) -> Result<(CertificateDer<'static>, String), rcgen::Error> {
        let names: Vec<String> = self.names.iter().cloned().collect();
        let mut parameters = CertificateParams::new(names)?;
        parameters.distinguished_name = named("sexton");
        set_validity(&mut parameters, now, SERVER_VALID);
        parameters.use_authority_key_identifier_extension = true;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let (issuer, key) = (authority_parameters(now), KeyPair::generate()?);
        let certificate = parameters.signed_by(&key, &Issuer::from_params(&issuer, authority))?;
        Ok((certificate.der().clone(), format!("{}{}", certificate.pem(), key.serialize_pem())))
    }

    /// Whether clients accept a certificate under every name at some time.
    fn accepted(
        &self,
        authority: &CertificateDer<'_>,
        server: &CertificateDer<'_>,
        at: SystemTime,
    ) -> Result<(), String> {
        for name in &self.names {
            let name = ServerName::try_from(name.clone()).map_err(|error| format!("{name}: {error}"))?;
            verify(authority, server, &name, at)?;
        }
        Ok(())
    }

    fn ensure_token(&self) -> Result<(), SecurityError> {
        if read(&self.token())?.is_some_and(|text| !text.trim().is_empty()) {
            return Ok(());
        }
        let mut bytes = [0_u8; TOKEN_BYTES];
        let random = rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes);
        random.map_err(|_| bad_file(&self.token(), "the system has no random numbers"))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.write("token", &format!("{text}\n"), 0o600)
    }

    /// Readers see the old file or the whole new one.
    fn write(&self, name: &str, text: &str, mode: u32) -> Result<(), SecurityError> {
        let (file, new) = (self.dir.join(name), self.dir.join(format!("{name}.new")));
        let written = write_new(&new, text, mode).and_then(|()| std::fs::rename(&new, &file));
        written.map_err(|error| bad_file(&file, error))
    }

    fn unusable(&self, name: &str, why: impl std::fmt::Display) -> SecurityError {
        let dir = self.dir.display();
        bad_file(&self.dir.join(name), format!("{why}; remove {dir} to make everything in it anew"))
    }
}

fn named(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

/// The same for every certificate of the authority: issued certificates refer to its name and key.
fn authority_parameters(now: SystemTime) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = named("sexton authority");
    set_validity(&mut parameters, now, AUTHORITY_VALID);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    parameters
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// From a little before now on.
fn set_validity(parameters: &mut CertificateParams, now: SystemTime, valid: Duration) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    parameters.not_before = epoch + Duration::from_secs(seconds(now - CLOCK_SKEW));
    parameters.not_after = epoch + Duration::from_secs(seconds(now + valid));
}

/// Checks a certificate as clients do.
fn verify(
    authority: &CertificateDer<'_>,
    server: &CertificateDer<'_>,
    name: &ServerName<'_>,
    at: SystemTime,
) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone().into_owned()).map_err(|error| error.to_string())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let verifier = verifier.map_err(|error| error.to_string())?;
    let at = UnixTime::since_unix_epoch(Duration::from_secs(seconds(at)));
    let verified = verifier.verify_server_cert(server, &[], name, &[], at);
    verified.map(drop).map_err(|error| error.to_string())
}

/// The text of a file, if it is there.
fn read(file: &Path) -> Result<Option<String>, SecurityError> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(bad_file(file, error)),
    }
}

fn make_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

fn write_new(file: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    // What an interrupted run left behind could have another mode.
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let mut open = options.open(file)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(own: &SelfSigned) -> [Vec<u8>; 4] {
        ["ca.crt", "ca.key", "server.pem", "token"].map(|name| std::fs::read(own.dir.join(name)).unwrap())
    }

    fn own(dir: &Path, hosts: &[&str]) -> SelfSigned {
        let hosts: Vec<String> = hosts.iter().map(|host| host_name(host).unwrap()).collect();
        SelfSigned::new(dir.join("tls"), "0.0.0.0".parse().unwrap(), &hosts)
    }

    #[test]
    fn what_is_good_stays_and_what_expires_is_renewed() {
        let dir = tempfile::tempdir().unwrap();
        let (own, now) = (own(dir.path(), &["build.example.com", "192.0.2.7"]), SystemTime::now());
        own.ensure(now).unwrap();
        for name in ["localhost", "127.0.0.1", "::1", "build.example.com", "192.0.2.7"] {
            assert!(own.is_valid_for(name), "{name}");
        }
        assert!(!own.is_valid_for("0.0.0.0") && !own.is_valid_for("evil.example.com"));
        let first = bytes(&own);
        own.ensure(now + DAY * 59).unwrap();
        assert_eq!(bytes(&own), first);
        own.ensure(now + DAY * 61).unwrap();
        let second = bytes(&own);
        assert_ne!(second[2], first[2], "the server's certificate is renewed a month before it expires");
        assert_eq!((&second[..2], &second[3]), (&first[..2], &first[3]));
        own.ensure(now + DAY * 3300).unwrap();
        let third = bytes(&own);
        assert_ne!(third[0], second[0], "so is the authority's, a year before");
        assert_eq!(third[1], second[1]);
        // A client that has the old certificate of the authority accepts what the new one signs.
        let (old, server) =
            (CertificateDer::from_pem_slice(&first[0]), CertificateDer::from_pem_slice(&third[2]));
        own.accepted(&old.unwrap(), &server.unwrap(), now + DAY * 3301).unwrap();
    }

    #[test]
    fn other_names_need_another_certificate_of_the_same_authority() {
        let dir = tempfile::tempdir().unwrap();
        own(dir.path(), &[]).ensure(SystemTime::now()).unwrap();
        let before = bytes(&own(dir.path(), &[]));
        let more = own(dir.path(), &["build.example.com"]);
        assert!(!more.is_valid_for("build.example.com"));
        more.ensure(SystemTime::now()).unwrap();
        assert!(more.is_valid_for("build.example.com"));
        let after = bytes(&more);
        assert_eq!((&after[..2], &after[3]), (&before[..2], &before[3]), "clients need nothing new");
    }

    #[cfg(unix)]
    #[test]
    fn keys_and_the_token_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let own = own(dir.path(), &[]);
        own.ensure(SystemTime::now()).unwrap();
        let mode = |name: &str| std::fs::metadata(own.dir.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["ca.key", "server.pem", "token"].map(mode), [0o600; 3]);
        assert_eq!(mode(""), 0o700);
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (one, two) = (own(one.path(), &[]), own(two.path(), &[]));
        one.ensure(SystemTime::now()).unwrap();
        two.ensure(SystemTime::now()).unwrap();
        std::fs::copy(two.dir.join("ca.key"), one.dir.join("ca.key")).unwrap();
        std::fs::remove_file(one.server()).unwrap();
        let error = one.ensure(SystemTime::now()).unwrap_err().to_string();
        assert!(error.contains("ca.crt") && error.contains("remove "), "{error}");
        std::fs::write(two.dir.join("ca.key"), "nonsense").unwrap();
        let error = two.ensure(SystemTime::now()).unwrap_err().to_string();
        assert!(error.contains("ca.key") && error.contains("remove "), "{error}");
        // What only the server needs is made anew.
        std::fs::copy(one.dir.join("ca.key"), two.dir.join("ca.key")).unwrap();
        std::fs::remove_file(two.authority()).unwrap();
        std::fs::write(two.server(), "nonsense").unwrap();
        two.ensure(SystemTime::now()).unwrap();
        assert!(two.is_valid_for("localhost"));
    }

    #[test]
    fn hosts_are_names_or_addresses() {
        assert_eq!(host_name("Build.Example.com").as_deref(), Ok("build.example.com"));
        assert_eq!(host_name("[2001:db8::1]").as_deref(), Ok("2001:db8::1"));
        for bad in ["", "a b", "https://a", "a:8180", "a/b", "[::1]:8180"] {
            assert!(host_name(bad).is_err(), "{bad}");
        }
    }
}
