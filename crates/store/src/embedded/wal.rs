//! Tells a log that was cut off by a crash from one that was damaged.
//!
//! SQLite ends its log at the first frame whose checksum is wrong. That is right for a commit that was interrupted: it
//! was never acknowledged. But when a later transaction lies behind the bad frame, that frame had been synced, and
//! what SQLite would drop was acknowledged. Every commit syncs before the next one begins, so the two cases differ:
//! behind the last frame of an interrupted commit, which carries the commit mark, there is nothing.
//!
//! Known limits: damage to the very last commit looks like an interrupted one, and so does damage which erases the
//! mark of the last commit but one.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::error::OpenError;

const HEADER: usize = 32;
const FRAME: usize = 24;
const MAGIC: u32 = 0x377f_0682;

/// Refuses a log which lost acknowledged commits to damage.
pub(super) fn inspect(log: &Path) -> Result<(), OpenError> {
    let file = match File::open(log) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(OpenError::io("open", log)(error)),
    };
    match scan(&mut BufReader::with_capacity(1 << 18, file)).map_err(OpenError::io("read", log))? {
        None => Ok(()),
        Some(at) => Err(OpenError::corrupt(
            log,
            format!("the frame at byte {at} is wrong, and committed transactions lie behind it"),
        )),
    }
}

/// The offset of damage, if there is any.
fn scan(log: &mut impl Read) -> std::io::Result<Option<usize>> {
    let mut header = [0; HEADER];
    if !fill(log, &mut header)? {
        return Ok(None);
    }
    let big_endian = word(&header, 0) & 1 == 1;
    let page = word(&header, 8) as usize;
    let mut sum = checksum(big_endian, (0, 0), &header[..24]);
    let mut good = word(&header, 0) & !1 == MAGIC
        && page.is_power_of_two()
        && (512..=65_536).contains(&page)
        && sum == (word(&header, 24), word(&header, 28));
    if !good {
        // The header is synced before any frame is written, and is much shorter than what a disk tears.
        return Ok(fill(log, &mut [0; FRAME])?.then_some(0));
    }
    let salt: [u8; 8] = header[16..24].try_into().unwrap_or_default();
    let mut frame = vec![0; FRAME + page];
    // `committed_behind`: at or behind the bad frame a commit ended, so whatever follows it proves that it was synced.
    let (mut at, mut bad_at, mut committed_behind) = (HEADER, 0, false);
    while fill(log, &mut frame)? {
        let fits = frame[8..16] == salt;
        let stored = (word(&frame, 16), word(&frame, 20));
        let expected = checksum(big_endian, checksum(big_endian, sum, &frame[..8]), &frame[FRAME..]);
        let whole = fits && expected == stored;
        let mark = word(&frame, 4) != 0;
        if good && !whole {
            (good, bad_at) = (false, at);
            // The bad frame may itself end a commit. A remainder of an older log has neither this salt nor this sum.
            committed_behind = mark && (fits || expected == stored);
        } else if !good && whole {
            // Chained to the frame before it, so it is a frame of this log and not a remainder of an older one.
            if committed_behind {
                return Ok(Some(bad_at));
            }
            committed_behind = mark;
        }
        sum = stored;
        at += frame.len();
    }
    Ok(None)
}

/// SQLite's checksum of its log, continued from `sum`.
fn checksum(big_endian: bool, mut sum: (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let number = |four: &[u8]| {
        let four = four.try_into().unwrap_or_default();
        if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    for eight in bytes.chunks_exact(8) {
        sum.0 = sum.0.wrapping_add(number(&eight[..4])).wrapping_add(sum.1);
        sum.1 = sum.1.wrapping_add(number(&eight[4..])).wrapping_add(sum.0);
    }
    sum
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

/// Fills the buffer; false when the file ends before.
fn fill(log: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match log.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
