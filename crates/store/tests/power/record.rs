//! What happened to a disk, in order, and the states that a power cut may have left of it.
//!
//! Only what was synced is sure to be there: a file's bytes by a sync of the file, names by a sync of the directory. All
//! else may be there or not, each write on its own, and a write may be torn between two sectors.

use std::collections::BTreeMap;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// One thing that happened.
#[derive(Debug, Clone)]
pub enum Op {
    /// Names come to mean these files, or nothing, all at once.
    Names(Vec<(String, Option<u64>)>),
    Write {
        file: u64,
        at: usize,
        bytes: Vec<u8>,
    },
    Length {
        file: u64,
        length: usize,
    },
    Sync {
        file: u64,
    },
    SyncNames,
    /// The store said that this many commits are durable, or that so much else was done.
    Acknowledged(u64),
}

/// What becomes of that which was not synced.
#[derive(Debug, Clone, Copy)]
pub enum Unsynced {
    Lost,
    Kept,
    /// As these numbers will have it.
    ByChance(u64),
}

/// A disk: its files by name.
pub type Image = BTreeMap<String, Vec<u8>>;

/// The state that a power cut after these things may have left, and what was acknowledged by then.
pub fn after_power_cut(ops: &[Op], unsynced: Unsynced) -> (Image, u64) {
    let mut disk = Disk::default();
    let mut acknowledged = 0;
    for op in ops {
        match op {
            Op::Acknowledged(number) => acknowledged = *number,
            op => disk.take(op),
        }
    }
    (disk.fall(unsynced), acknowledged)
}

#[derive(Default)]
struct Disk {
    synced: BTreeMap<u64, Vec<u8>>,
    pending: BTreeMap<u64, Vec<Op>>,
    names: BTreeMap<String, u64>,
    pending_names: Vec<Vec<(String, Option<u64>)>>,
}

impl Disk {
    fn take(&mut self, op: &Op) {
        match op {
            Op::Names(names) => self.pending_names.push(names.clone()),
            Op::Write { file, .. } | Op::Length { file, .. } => {
                self.pending.entry(*file).or_default().push(op.clone());
            }
            Op::Sync { file } => {
                let bytes = self.synced.entry(*file).or_default();
                self.pending.remove(file).into_iter().flatten().for_each(|op| apply(bytes, &op));
            }
            Op::SyncNames => {
                for names in std::mem::take(&mut self.pending_names) {
                    self.rename(names);
                }
            }
            Op::Acknowledged(_) => {}
        }
    }

    fn rename(&mut self, names: Vec<(String, Option<u64>)>) {
        for (name, file) in names {
            match file {
                Some(file) => drop(self.names.insert(name, file)),
                None => drop(self.names.remove(&name)),
            }
        }
    }

    fn fall(mut self, unsynced: Unsynced) -> Image {
        let mut chance = Chance(match unsynced {
            Unsynced::ByChance(seed) => seed,
            Unsynced::Lost | Unsynced::Kept => 0,
        });
        // A file system writes names in order, up to some moment.
        let pending = std::mem::take(&mut self.pending_names);
        let count = match unsynced {
            Unsynced::Lost => 0,
            Unsynced::Kept => pending.len(),
            Unsynced::ByChance(_) => chance.below(pending.len() + 1),
        };
        pending.into_iter().take(count).for_each(|names| self.rename(names));
        for (file, ops) in std::mem::take(&mut self.pending) {
            let bytes = self.synced.entry(file).or_default();
            for op in ops {
                match unsynced {
                    Unsynced::Lost => {}
                    Unsynced::Kept => apply(bytes, &op),
                    Unsynced::ByChance(_) => chance.apply(bytes, op),
                }
            }
        }
        let synced = self.synced;
        self.names
            .into_iter()
            .map(|(name, file)| (name, synced.get(&file).cloned().unwrap_or_default()))
            .collect()
    }
}

pub fn apply(bytes: &mut Vec<u8>, op: &Op) {
    match op {
        Op::Write { at, bytes: new, .. } => {
            if bytes.len() < at + new.len() {
                bytes.resize(at + new.len(), 0);
            }
            bytes[*at..at + new.len()].copy_from_slice(new);
        }
        Op::Length { length, .. } => bytes.resize(*length, 0),
        _ => {}
    }
}

/// Numbers from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn apply(&mut self, bytes: &mut Vec<u8>, op: Op) {
        match (self.below(3), op) {
            (0, _) => {}
            (1, Op::Write { file, at, bytes: mut new }) => {
                // Torn: up to a boundary between sectors, or from one on.
                let sectors = (at + new.len()).div_ceil(SECTOR) - at / SECTOR;
                let cut = ((at / SECTOR + self.below(sectors + 1)) * SECTOR).clamp(at, at + new.len());
                if self.below(2) == 0 {
                    new.truncate(cut - at);
                    apply(bytes, &Op::Write { file, at, bytes: new });
                } else {
                    let new = new.split_off(cut - at);
                    apply(bytes, &Op::Write { file, at: cut, bytes: new });
                }
            }
            (_, op) => apply(bytes, &op),
        }
    }
}

/// The record as bytes, for another process: of each thing a letter, numbers, and bytes with their count.
pub fn encode(ops: &[Op]) -> Vec<u8> {
    let mut out = Vec::new();
    for op in ops {
        let (letter, numbers, bytes): (u8, [u64; 2], &[u8]) = match op {
            Op::Names(names) => {
                out.push(b'n');
                out.extend((names.len() as u64).to_le_bytes());
                for (name, file) in names {
                    out.extend(file.unwrap_or(0).to_le_bytes());
                    out.extend((name.len() as u64).to_le_bytes());
                    out.extend(name.as_bytes());
                }
                continue;
            }
            Op::Write { file, at, bytes } => (b'w', [*file, *at as u64], bytes),
            Op::Length { file, length } => (b'l', [*file, *length as u64], &[]),
            Op::Sync { file } => (b's', [*file, 0], &[]),
            Op::SyncNames => (b'd', [0, 0], &[]),
            Op::Acknowledged(number) => (b'a', [*number, 0], &[]),
        };
        out.push(letter);
        numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(bytes);
    }
    out
}

pub fn decode(mut rest: &[u8]) -> Vec<Op> {
    let mut ops = Vec::new();
    while let Some((letter, behind)) = rest.split_first() {
        rest = behind;
        if *letter == b'n' {
            let names = (0..number(&mut rest)).map(|_| {
                let file = Some(number(&mut rest)).filter(|file| *file > 0);
                (String::from_utf8(bytes(&mut rest)).unwrap(), file)
            });
            ops.push(Op::Names(names.collect()));
            continue;
        }
        let (file, other, bytes) = (number(&mut rest), number(&mut rest) as usize, bytes(&mut rest));
        ops.push(match letter {
            b'w' => Op::Write { file, at: other, bytes },
            b'l' => Op::Length { file, length: other },
            b's' => Op::Sync { file },
            b'd' => Op::SyncNames,
            _ => Op::Acknowledged(file),
        });
    }
    ops
}

fn number(rest: &mut &[u8]) -> u64 {
    let (number, behind) = rest.split_at(8);
    *rest = behind;
    u64::from_le_bytes(number.try_into().unwrap())
}

fn bytes(rest: &mut &[u8]) -> Vec<u8> {
    let count = number(rest) as usize;
    let (bytes, behind) = rest.split_at(count);
    *rest = behind;
    bytes.to_vec()
}
