//! An open description of each file for each worker that uses it.
//!
//! The kernel keeps a count of users and the state of its readahead in a description: workers that
//! share one take its cache line from each other with every request.

use super::time_limit::{Doing, Haste, Progress, patiently};
use crate::error::EngineError;
use model::note::Degraded;
use model::plan::{HostPlan, HostStage, PlannedTarget, Worker};
use rustix::fs::{Mode, OFlags, PROC_SUPER_MAGIC};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Where a file is opened once more: by its number and not by its name, so that it is the same
/// file, whatever stands under the name now.
const OPEN: &str = "/proc/self/fd";

/// Descriptors that are left to the rest of the program, besides one for each worker's ring.
const LEFT: usize = 256;

/// What a worker has for itself, by the number of the file; of all others, it has what was opened
/// first.
#[derive(Debug, Default)]
pub(crate) struct Own(Vec<(u32, Arc<OwnedFd>)>);

impl Own {
    /// Puts it into `files`, the list that a backend works with.
    pub(crate) fn put_into(&self, files: &mut [RawFd]) {
        for (number, own) in &self.0 {
            files[*number as usize] = own.as_raw_fd();
        }
    }
}

/// Of each file, the descriptions besides the first. They stay open for the stages to come: one
/// that is closed may have the target write something out.
#[derive(Debug, Default)]
pub(crate) struct Further(Mutex<Vec<Vec<Arc<OwnedFd>>>>);

impl Further {
    /// What each worker of `stage` has for itself, and why that is not all that it needs.
    ///
    /// # Errors
    /// When the system does not answer for as long as the plan's patience.
    pub(super) fn hand_out(
        &self,
        plan: &Arc<HostPlan>,
        stage: &HostStage,
        files: &Arc<[OwnedFd]>,
        haste: &Haste,
    ) -> Result<(Vec<Own>, Option<Degraded>), EngineError> {
        let wanted = wanted(plan, stage, files.len());
        let mut further = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        further.resize_with(files.len(), Vec::new);
        // A stage of more workers needs more numbers for their rings.
        let most = room(stage.workers.len());
        let is_over = |one: &mut Arc<OwnedFd>| one.as_raw_fd() as usize >= most;
        let over: Vec<_> = further.iter_mut().flat_map(|one| one.extract_if(.., is_over)).collect();
        let is_missing = |(file, place): &&(u32, usize)| further[*file as usize].len() <= *place;
        let missing = wanted.iter().flatten().filter(is_missing);
        let mut missing: Vec<_> = missing.map(|(file, place)| (*place, *file as usize)).collect();
        let mut refused = None;
        if !missing.is_empty() || !over.is_empty() {
            // Fair to all files, where there is no room for all.
            missing.sort_unstable();
            let (plan, files) = (plan.clone(), files.clone());
            let (patience, had) = (plan.engine.patience, std::mem::take(&mut *further));
            (*further, refused) = patiently(patience, haste, Doing::Opening, move |progress| {
                drop(over);
                Ok(open(had, &missing, &plan, &files, most, progress))
            })?;
        }
        let of_worker = |wanted: Vec<(u32, usize)>| {
            let found = wanted.into_iter().filter_map(|(file, place)| {
                Some((file, further[file as usize].get(place)?.clone()))
            });
            Own(found.collect())
        };
        let own = wanted.into_iter().map(of_worker).collect();
        Ok((own, refused.map(|error| Degraded::OneForSeveral(error.into()))))
    }
}

/// For each worker of `stage`, which of the further descriptions of which file is to be its own:
/// whoever comes first to a file has the first one.
fn wanted(plan: &HostPlan, stage: &HostStage, files: usize) -> Vec<Vec<(u32, usize)>> {
    let (ours, mut users) = (ours(plan), vec![0_usize; files]);
    let of_worker = |worker: &Worker| {
        let stop = stage.works[worker.work as usize].stop;
        let closes = stop.once().is_some_and(|once| once.close);
        let mut wanted = Vec::new();
        for file in numbers(worker) {
            // What it closes it opens itself.
            let opens = closes && ours.get(file as usize) == Some(&true);
            let Some(users) = users.get_mut(file as usize).filter(|_| !opens) else { continue };
            *users += 1;
            if *users > 1 {
                wanted.push((file, *users - 2));
            }
        }
        wanted
    };
    stage.workers.iter().map(of_worker).collect()
}

/// The first number of a descriptor that is not for the files of `workers`.
fn room(workers: usize) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(LEFT + workers)
}

/// Opens what is `missing` in `further`, the next place first, as far as numbers are below `most`.
/// Comes back with what there is then, and with what the system said to the one that it refused.
fn open(
    mut further: Vec<Vec<Arc<OwnedFd>>>,
    missing: &[(usize, usize)],
    plan: &HostPlan,
    files: &[OwnedFd],
    most: usize,
    progress: &Progress,
) -> (Vec<Vec<Arc<OwnedFd>>>, Option<io::Error>) {
    let paths: Vec<&str> = plan.files().map(|file| file.path.as_str()).collect();
    if !rustix::fs::statfs(OPEN).is_ok_and(|found| found.f_type == PROC_SUPER_MAGIC) {
        return (further, Some(Errno::NOENT.into()));
    }
    for (_, file) in missing {
        progress.at(paths.get(*file).copied().unwrap_or_default());
        match again(&files[*file]) {
            Ok(one) if (one.as_raw_fd() as usize) < most => further[*file].push(Arc::new(one)),
            Ok(_) => return (further, Some(Errno::MFILE.into())),
            Err(error) => return (further, Some(error)),
        }
    }
    (further, None)
}

/// Which files of a host are ours, and may be opened as often as we like.
pub(crate) fn ours(plan: &HostPlan) -> Vec<bool> {
    let is_ours = |kind: &PlannedTarget| {
        matches!(kind, PlannedTarget::Directory { .. } | PlannedTarget::Joined)
    };
    plan.targets
        .iter()
        .flat_map(|target| target.files.iter().map(|_| is_ours(&target.kind)))
        .collect()
}

/// The files that a worker has bytes of, each once.
pub(crate) fn numbers(worker: &Worker) -> Vec<u32> {
    let mut numbers: Vec<u32> = worker.extents.iter().map(|extent| extent.file).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Opens what `file` is once more, in the same way.
pub(crate) fn again(file: &OwnedFd) -> io::Result<OwnedFd> {
    let kept = OFlags::ACCMODE | OFlags::DIRECT | OFlags::NOATIME;
    let flags = rustix::fs::fcntl_getfl(file)? & kept;
    let path = format!("{OPEN}/{}", file.as_raw_fd());
    Ok(rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;
    use model::StageKind;
    use model::choices::{Access, Backend};
    use model::plan::{EngineSettings, Extent, TargetFile};
    use model::units::{Nanos, Percent};
    use rustix::fs::{SeekFrom, fstat, seek};

    /// A plan with two files of a directory, and both open.
    fn two_files(folder: &std::path::Path) -> (Arc<HostPlan>, Arc<[OwnedFd]>) {
        let engine = EngineSettings::simple(Backend::Sync);
        let plan = HostPlan {
            targets: vec![common::directory(folder, 2, 4096)],
            ..HostPlan::empty("r", Nanos::seconds(1), engine)
        };
        let open = |file: &TargetFile| std::fs::File::create(&file.path).expect("room").into();
        let files = plan.files().map(open).collect();
        (Arc::new(plan), files)
    }

    /// A stage of workers that each have bytes of these files.
    fn stage(workers: &[&[u32]]) -> HostStage {
        let work = common::work(Percent::ALL, Access::Random, 1, common::after_ms(1_000));
        let extent = |file: &u32| Extent { file: *file, offset: 0, length: 4096 };
        let worker = |files: &&[u32]| common::worker(0, files.iter().map(extent).collect());
        common::stage(0, StageKind::Measure, work, workers.iter().map(worker).collect())
    }

    #[test]
    fn no_two_workers_have_the_same_description_and_no_stage_opens_what_is_open() {
        let folder = tempfile::tempdir().expect("a directory");
        let (plan, files) = two_files(folder.path());
        // Whatever happens to the name, it is the same file.
        std::fs::remove_file(folder.path().join("data-00000.bin")).expect("is there");
        let (further, haste) = (Further::default(), Haste::default());
        let hand_out = |workers: &[&[u32]]| {
            let stage = stage(workers);
            let (own, refused) = further.hand_out(&plan, &stage, &files, &haste).expect("answers");
            assert_eq!(refused, None);
            let first: Box<[RawFd]> = files.iter().map(AsRawFd::as_raw_fd).collect();
            let with = |own: &Own| {
                let mut theirs = first.clone();
                own.put_into(&mut theirs);
                theirs
            };
            (own.iter().map(with).collect::<Vec<_>>(), own)
        };
        let (numbers, own) = hand_out(&[&[0], &[0, 1], &[0, 0], &[1]]);
        let first = [files[0].as_raw_fd(), files[1].as_raw_fd()];
        assert_eq!((numbers[0][0], numbers[1][1]), (first[0], first[1]), "the first has the first");
        let opened = own.iter().flat_map(|own| &own.0);
        let all: Vec<&OwnedFd> = files.iter().chain(opened.map(|(_, file)| &**file)).collect();
        assert_eq!(all.len(), 3 + 2, "one for each worker of each file");
        // A description has one position, also for whoever has a copy of it.
        for (position, file) in all.iter().enumerate() {
            seek(file, SeekFrom::Start(position as u64)).expect("a file");
        }
        let positions: Vec<u64> =
            all.iter().map(|file| seek(file, SeekFrom::Current(0)).expect("a file")).collect();
        assert_eq!(positions, [0, 1, 2, 3, 4]);
        let inode = |file: &OwnedFd| fstat(file).expect("is open").st_ino;
        for (file, one) in own.iter().flat_map(|own| &own.0) {
            assert_eq!(inode(one), inode(&files[*file as usize]));
        }
        assert_eq!(hand_out(&[&[0], &[0, 1], &[0, 0], &[1]]).0, numbers);
        assert_eq!(hand_out(&[&[0], &[1]]).0, vec![Box::from(first); 2], "nobody shares");
    }

    #[test]
    fn beyond_the_limit_workers_use_one_description_and_it_is_said() {
        let folder = tempfile::tempdir().expect("a directory");
        let (plan, files) = two_files(folder.path());
        let missing = [(0, 0), (0, 1)];
        let (further, refused) =
            open(vec![Vec::new(); 2], &missing, &plan, &files, 0, &Progress::default());
        assert!(further.iter().all(Vec::is_empty));
        assert_eq!(refused.and_then(|error| error.raw_os_error()), Some(libc::EMFILE));
    }
}
