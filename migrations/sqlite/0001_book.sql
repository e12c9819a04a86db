-- The book. Records are JSON documents; a column stands beside them only where something is looked up by it.

-- The book's own values: its id, its secret.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

-- One row per process start; `ord` stands for the stream in the journal.
CREATE TABLE streams (
    ord        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    started_at INTEGER NOT NULL
);

CREATE TABLE journal (
    stream  INTEGER NOT NULL REFERENCES streams (ord),
    seq     INTEGER NOT NULL,
    enquiry TEXT,
    entry   TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE INDEX journal_by_enquiry ON journal (enquiry, stream, seq) WHERE enquiry IS NOT NULL;

-- Erasable content: the journal holds only SHA-256(nonce || bytes).
CREATE TABLE blobs (
    digest  BLOB NOT NULL UNIQUE,
    nonce   BLOB NOT NULL,
    bytes   BLOB NOT NULL,
    enquiry TEXT,
    at      INTEGER NOT NULL
);

CREATE TABLE deliveries (
    id      TEXT NOT NULL,
    item    INTEGER NOT NULL,
    source  TEXT NOT NULL,
    verdict TEXT NOT NULL,
    enquiry TEXT,
    doc     TEXT NOT NULL,
    UNIQUE (id, item)
);
CREATE INDEX deliveries_by_enquiry ON deliveries (enquiry) WHERE enquiry IS NOT NULL;

-- An enquiry's id is the digest of its key, so the unique id is what makes one enquiry of one key (I2).
CREATE TABLE enquiries (
    id          TEXT NOT NULL UNIQUE,
    key         TEXT NOT NULL,
    source      TEXT NOT NULL,
    standing    TEXT NOT NULL,
    look_alike  BLOB,
    due         INTEGER,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    version     INTEGER NOT NULL DEFAULT 1,
    doc         TEXT NOT NULL
);
CREATE INDEX enquiries_due ON enquiries (due) WHERE due IS NOT NULL;
CREATE INDEX enquiries_look_alike ON enquiries (source, look_alike) WHERE look_alike IS NOT NULL;

-- `held_lock`: what only one effect at a time may hold, e.g. one contact in one target.
CREATE TABLE effects (
    id          TEXT NOT NULL UNIQUE,
    enquiry     TEXT NOT NULL,
    target      TEXT NOT NULL,
    state       TEXT NOT NULL,
    external_id TEXT,
    held_lock   TEXT,
    due         INTEGER,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    version     INTEGER NOT NULL DEFAULT 1,
    doc         TEXT NOT NULL
);
CREATE INDEX effects_by_enquiry ON effects (enquiry);
CREATE INDEX effects_due ON effects (due, target) WHERE due IS NOT NULL;
CREATE INDEX effects_external ON effects (external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX effects_lock ON effects (held_lock) WHERE held_lock IS NOT NULL;

CREATE TABLE reviews (
    id      TEXT NOT NULL UNIQUE,
    enquiry TEXT NOT NULL,
    open    INTEGER NOT NULL,
    doc     TEXT NOT NULL
);
CREATE INDEX reviews_by_enquiry ON reviews (enquiry);
CREATE INDEX reviews_open ON reviews (open) WHERE open = 1;

CREATE TABLE rules (
    source      TEXT NOT NULL,
    version     INTEGER NOT NULL,
    rule        TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (source, version)
) WITHOUT ROWID;

-- A paused target's effects stay due and are not handed out.
CREATE TABLE targets (
    name   TEXT PRIMARY KEY,
    paused INTEGER NOT NULL,
    doc    TEXT NOT NULL
) WITHOUT ROWID;

-- Deliveries that were not authentic: a bounded ring per source.
CREATE TABLE refused (
    id     TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL,
    at     INTEGER NOT NULL,
    doc    TEXT NOT NULL,
    body   BLOB NOT NULL
);
CREATE INDEX refused_by_source ON refused (source);
