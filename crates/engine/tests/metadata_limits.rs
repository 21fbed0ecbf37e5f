//! A process without a free descriptor, alone in it because the limit is that of all threads.

use crate::common::{errors, scratch};
use crate::files::{Layout, ios, plan, run};
use engine::open;
use model::Op;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn files_that_cannot_be_opened_for_want_of_descriptors_are_data() {
    if !crate::in_a_process_of_its_own(
        "metadata_limits::files_that_cannot_be_opened_for_want_of_descriptors_are_data",
    ) {
        return;
    }
    let (_base, root) = scratch();
    let ops = [Op::Create, Op::ReadFile, Op::Stat, Op::Remove];
    let targets =
        open(plan(&root, 40, 16, Layout { unique: true, random: false }, &ops)).expect("opens");
    assert_eq!(ios(&run(&targets, 0)), 40);
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), maximum: before.maximum })
        .expect("a lower limit");
    let read = run(&targets, 1);
    let looked_up = run(&targets, 2);
    setrlimit(Resource::Nofile, before).expect("the limit that was");
    assert_eq!((ios(&read), errors(&read)), (0, vec![(libc::EMFILE, 40)]));
    assert_eq!((ios(&looked_up), errors(&looked_up)), (40, vec![]), "which needs none");
    assert_eq!(ios(&run(&targets, 3)), 40);
    targets.remove().expect("removes");
}
