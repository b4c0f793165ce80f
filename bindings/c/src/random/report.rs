//! Calls of reports, and those that name numbers.

use std::ffi::CStr;
use std::mem::MaybeUninit;

use arbitrary::Arbitrary;

use crate::codes::*;
use crate::report::*;
use crate::status::*;
use crate::version::*;

use super::handles::Pick;
use super::texts::Buffer;
use super::world::World;

#[derive(Arbitrary, Debug)]
pub(super) enum Call {
    Summarize(Pick),
    Finding(Pick, u8),
    Text { report: Pick, index: u8, part: u8, buffer: Buffer },
    Free(Pick),
    Names(i32),
}

impl Call {
    pub(super) fn make(self, world: &mut World) {
        // SAFETY: places on the stack; handles as `Handles` has them; buffers as theirs.
        let (kind, status) = unsafe {
            match self {
                Self::Free(pick) => return world.reports.free(pick),
                Self::Names(number) => return names(number),
                Self::Summarize(pick) => {
                    let (report, kind) = world.reports.pick(pick);
                    let mut summary = MaybeUninit::uninit();
                    (kind, tripcoil_report_summarize(report, summary.as_mut_ptr()))
                }
                Self::Finding(pick, index) => {
                    let (report, kind) = world.reports.pick(pick);
                    let mut finding = MaybeUninit::uninit();
                    (kind, tripcoil_report_finding(report, usize::from(index), finding.as_mut_ptr()))
                }
                Self::Text { report, index, part, buffer } => {
                    let (report, kind) = world.reports.pick(report);
                    let (index, part) = (usize::from(index % 4), i32::from(part % 8) - 1);
                    let copy = |at, room, needed| tripcoil_report_text(report, index, part, at, room, needed);
                    (kind, buffer.with(copy))
                }
            }
        };
        kind.check(status);
    }
}

fn names(number: i32) {
    let named = [
        tripcoil_status_name(number),
        tripcoil_status_message(number),
        tripcoil_outcome_name(number),
        tripcoil_state_name(number),
        tripcoil_mode_name(number),
        tripcoil_version(),
    ];
    for name in named {
        // SAFETY: a static string that ends with NUL.
        assert!(!unsafe { CStr::from_ptr(name) }.is_empty());
    }
    assert!(tripcoil_version_number() > 0);
}
