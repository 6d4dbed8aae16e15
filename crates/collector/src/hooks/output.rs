//! Reads output of programs, up to a limit.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::HookError;

const CHUNK: usize = 8 << 10;

/// Reads to the end, or to the limit.
pub(super) async fn all(
    mut from: impl AsyncRead + Unpin,
    into: &mut Vec<u8>,
    limit: usize,
) -> Result<(), HookError> {
    let mut chunk = [0; CHUNK];
    while let Some(bytes) = next(&mut from, &mut chunk).await {
        if into.len() + bytes.len() > limit {
            return Err(HookError::TooMuch { limit });
        }
        into.extend_from_slice(bytes);
    }
    Ok(())
}

/// Reads to the end and keeps only the last bytes, where programs write what went wrong.
pub(super) async fn tail(mut from: impl AsyncRead + Unpin, into: &mut VecDeque<u8>, keep: usize) {
    let mut chunk = [0; CHUNK];
    while let Some(bytes) = next(&mut from, &mut chunk).await {
        into.extend(bytes);
        into.drain(..into.len().saturating_sub(keep));
    }
}

/// The next bytes. A read error counts as the end: the exit status tells how the program ended.
async fn next<'c>(from: &mut (impl AsyncRead + Unpin), chunk: &'c mut [u8]) -> Option<&'c [u8]> {
    loop {
        match from.read(chunk).await {
            Ok(0) => return None,
            Ok(read) => return Some(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
