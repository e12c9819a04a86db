//! What had to be mended for a body to be read: counts by kind, which go on record, and whether something was lost on the
//! way. What was lost where is read again with marks.

use std::collections::BTreeMap;

use domain::tree::Mended;

/// One kind of mending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// A byte-order mark was taken off.
    ByteOrderMark,
    /// A file's name was made safe.
    FileName,
    /// The declared boundary did not stand in the body, and the body's own was taken.
    Boundary,
    /// A control character stood unescaped in a JSON string.
    Control,
    /// The declared content encoding was not the body's.
    Encoding,
    /// A NUL stands in a name or a text: fields have U+FFFD there.
    Nul,
    /// A part of a form stood in Base64 or as quoted-printable, and was decoded.
    PartEncoding,
    /// A member repeats the name of one before it: the last counts.
    RepeatedName,
    /// Half of a surrogate pair was replaced by U+FFFD.
    Surrogate,
    /// Text was not in UTF-8 and was brought into it.
    Transcoded,
    /// The body was not of the declared type.
    Type,
    /// Bytes that are no text were replaced by U+FFFD.
    Undecodable,
}

impl Repair {
    /// The name on record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "byte_order_mark",
            Self::FileName => "file_name",
            Self::Boundary => "boundary",
            Self::Control => "control_character",
            Self::Encoding => "declared_encoding",
            Self::Nul => "nul",
            Self::PartEncoding => "part_encoding",
            Self::RepeatedName => "repeated_name",
            Self::Surrogate => "lone_surrogate",
            Self::Transcoded => "transcoded",
            Self::Type => "declared_type",
            Self::Undecodable => "undecodable",
        }
    }
}

/// Everything that was mended in one body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    counts: BTreeMap<Repair, u32>,
    is_lossy: bool,
    /// Whether what is read is marked where something is lost ([`domain::tree::marks`]).
    is_marking: bool,
}

impl Repairs {
    /// Counts.
    pub(super) fn add(&mut self, kind: Repair, count: u32) {
        if count > 0 {
            let sum = self.counts.entry(kind).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    pub(super) fn one(&mut self, kind: Repair) {
        self.add(kind, 1);
    }

    /// Counts what was replaced by a character that others may have written.
    pub(super) fn lost(&mut self, kind: Repair, count: u32) {
        self.add(kind, count);
        self.is_lossy |= count > 0;
    }

    /// Those of a reading with marks.
    pub(super) fn marking() -> Self {
        Self { is_marking: true, ..Self::default() }
    }

    pub(super) fn is_marking(&self) -> bool {
        self.is_marking
    }

    /// None yet, for a part of the body that is read the same way.
    pub(super) fn of_part(&self) -> Self {
        Self { is_marking: self.is_marking, ..Self::default() }
    }

    /// Takes those of a part of the body in.
    pub(in crate::intake) fn join(&mut self, part: &Self) {
        for (kind, count) in &part.counts {
            self.add(*kind, *count);
        }
        self.is_lossy |= part.is_lossy;
    }

    /// What was replaced in all of it is no matter of the whole any more: its parts are read anew, each by itself.
    pub(super) fn forget_lost(&mut self) {
        self.counts.remove(&Repair::Undecodable);
        self.is_lossy = false;
    }

    /// How often that was done.
    pub fn count(&self, kind: Repair) -> u32 {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// Whether something was replaced and reads like something else now.
    pub fn is_lossy(&self) -> bool {
        self.is_lossy
    }

    /// Takes in what was mended in texts that are read as part of the body.
    pub(in crate::intake) fn add_mended(&mut self, mended: &Mended) {
        self.add(Repair::Control, mended.controls);
        self.lost(Repair::Surrogate, mended.surrogates);
    }

    /// As the record has them.
    pub fn on_record(&self) -> BTreeMap<String, u32> {
        self.counts.iter().map(|(kind, count)| (kind.as_str().to_owned(), *count)).collect()
    }
}
