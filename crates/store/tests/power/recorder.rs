//! The file system itself, in memory: it records what is done to it and fails when told to.
//!
//! One directory without others in it, which is all that a store needs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use crate::disk::Special;
use crate::record::{self, Op, apply};

/// Nothing is remembered by the kernel: this file system answers.
const TTL: Duration = Duration::ZERO;
const ROOT: u64 = 1;
/// The numbers of files come after those of [`Special`].
const FIRST: u64 = 16;
/// Files that take no part in what is durable: SQLite makes its index anew, the others hold nothing.
const PASSING: [&str; 3] = ["store.db-shm", "reserve", "lock"];

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<u64, Vec<u8>>,
    names: BTreeMap<String, u64>,
    passing: Vec<u64>,
    made: u64,
    ops: Vec<Op>,
    /// The same as bytes, as of when it was last opened for reading.
    told: Vec<u8>,
    /// So many syncs of files fail from now on.
    failing_syncs: u64,
    /// Whether writes find no space.
    full: bool,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn attr(&self, file: u64) -> Option<FileAttr> {
        let is_special = file == ROOT || Special::of(file).is_some();
        let size = if is_special { 0 } else { self.files.get(&file)?.len() as u64 };
        let (kind, perm) =
            if file == ROOT { (FileType::Directory, 0o700) } else { (FileType::RegularFile, 0o600) };
        Some(FileAttr {
            ino: INodeNo(file),
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// Changes a file, and records it.
    fn change(&mut self, op: Op) {
        let (Op::Write { file, .. } | Op::Length { file, .. }) = &op else { return };
        let file = *file;
        apply(self.files.entry(file).or_default(), &op);
        if !self.passing.contains(&file) {
            self.ops.push(op);
        }
    }

    fn rename(&mut self, names: Vec<(String, Option<u64>)>) {
        for (name, file) in &names {
            match file {
                Some(file) => drop(self.names.insert(name.clone(), *file)),
                None => drop(self.names.remove(name)),
            }
        }
        let lasting = |(name, _): &(String, Option<u64>)| !PASSING.contains(&name.as_str());
        let names: Vec<_> = names.into_iter().filter(lasting).collect();
        if !names.is_empty() {
            self.ops.push(Op::Names(names));
        }
    }
}

fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

/// What the kernel speaks to.
#[derive(Default)]
pub struct Recorder(Arc<Mutex<State>>);

impl Filesystem for Recorder {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let state = lock(&self.0);
        let special = Special::named(name).map(|special| special as u64);
        match special.or(state.names.get(&text(name)).copied()).and_then(|file| state.attr(file)) {
            Some(attr) => reply.entry(&TTL, &attr, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if Special::of(ino.0).is_none() {
            return reply.opened(FileHandle(0), FopenFlags::empty());
        }
        let mut state = lock(&self.0);
        state.told = record::encode(&state.ops);
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match lock(&self.0).attr(ino.0) {
            Some(attr) => reply.attr(&TTL, &attr),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut state = lock(&self.0);
        if let Some(size) = size.filter(|_| Special::of(ino.0).is_none()) {
            state.change(Op::Length { file: ino.0, length: size as usize });
        }
        match state.attr(ino.0) {
            Some(attr) => reply.attr(&TTL, &attr),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn create(&self, _: &Request, _: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        let mut state = lock(&self.0);
        state.made += 1;
        let file = FIRST + state.made;
        state.files.insert(file, Vec::new());
        if PASSING.contains(&text(name).as_str()) {
            state.passing.push(file);
        }
        state.rename(vec![(text(name), Some(file))]);
        match state.attr(file) {
            Some(attr) => reply.created(&TTL, &attr, Generation(0), FileHandle(0), FopenFlags::empty()),
            None => reply.error(Errno::EIO),
        }
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        lock(&self.0).rename(vec![(text(name), None)]);
        reply.ok();
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: INodeNo,
        new: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut state = lock(&self.0);
        let Some(file) = state.names.get(&text(name)).copied() else { return reply.error(Errno::ENOENT) };
        state.rename(vec![(text(new), Some(file)), (text(name), None)]);
        reply.ok();
    }

    fn link(&self, _: &Request, ino: INodeNo, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut state = lock(&self.0);
        state.rename(vec![(text(name), Some(ino.0))]);
        match state.attr(ino.0) {
            Some(attr) => reply.entry(&TTL, &attr, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let state = lock(&self.0);
        let bytes = match Special::of(ino.0) {
            Some(_) => &state.told[..],
            None => state.files.get(&ino.0).map_or(&[][..], Vec::as_slice),
        };
        let from = bytes.len().min(offset as usize);
        reply.data(&bytes[from..bytes.len().min(from + size as usize)]);
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = lock(&self.0);
        if let Some(special) = Special::of(ino.0) {
            let number = u64::from_le_bytes(data.try_into().unwrap_or_default());
            match special {
                Special::Ops => {}
                Special::Acknowledged => state.ops.push(Op::Acknowledged(number)),
                Special::FailingSyncs => state.failing_syncs = number,
                Special::Full => state.full = number > 0,
            }
            return reply.written(data.len() as u32);
        }
        if state.full && !state.passing.contains(&ino.0) {
            return reply.error(Errno::ENOSPC);
        }
        state.change(Op::Write { file: ino.0, at: offset as usize, bytes: data.to_vec() });
        reply.written(data.len() as u32);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let mut state = lock(&self.0);
        if state.passing.contains(&ino.0) {
            return reply.ok();
        }
        if state.failing_syncs > 0 {
            state.failing_syncs -= 1;
            return reply.error(Errno::EIO);
        }
        state.ops.push(Op::Sync { file: ino.0 });
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        lock(&self.0).ops.push(Op::SyncNames);
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if mode == 0 {
            lock(&self.0).change(Op::Length { file: ino.0, length: (offset + length) as usize });
        }
        reply.ok();
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let state = lock(&self.0);
        for (at, (name, file)) in state.names.iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*file), at as u64 + 1, FileType::RegularFile, Path::new(name)) {
                break;
            }
        }
        reply.ok();
    }
}
