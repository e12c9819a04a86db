-- Inside the book an enquiry is a number, given in the order of entering. What belongs to it is filed under the number, so
-- that the indexes grow at their end: under its id, which is a digest, each new row changes a page anywhere in the file, and a
-- large book gets slow. Only the enquiry's own id is still in such places: it is what makes one enquiry of one key. Marks of
-- fields (look_alike) are asked for only among the last ones, and so have no index.
--
-- Before this runs, the program has seen that every enquiry that a row names is in the book; NOT NULL would refuse it too.

CREATE TABLE new_enquiries (
    n           INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    key         TEXT NOT NULL,
    source      TEXT NOT NULL,
    standing    TEXT NOT NULL,
    look_alike  INTEGER,
    due         INTEGER,
    lease_until INTEGER NOT NULL DEFAULT 0,
    fence       INTEGER NOT NULL DEFAULT 0,
    version     INTEGER NOT NULL DEFAULT 1,
    doc         TEXT NOT NULL
);
-- A mark is 64 bits of a SHA-256, which SQL cannot make: the program writes those of the last enquiries after this.
INSERT INTO new_enquiries SELECT rowid, id, key, source, standing, NULL, due, lease_until, fence, version, doc FROM enquiries;

CREATE TABLE new_journal (
    stream  INTEGER NOT NULL REFERENCES streams (ord),
    seq     INTEGER NOT NULL,
    enquiry INTEGER,
    entry   TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
INSERT INTO new_journal
    SELECT j.stream, j.seq, e.rowid, j.entry FROM journal j LEFT JOIN enquiries e ON e.id = j.enquiry ORDER BY j.stream, j.seq;

-- `alone`: found by its digest. The others belong to one enquiry, and are looked for among what is its.
CREATE TABLE new_blobs (
    n       INTEGER PRIMARY KEY,
    digest  BLOB NOT NULL,
    alone   INTEGER NOT NULL,
    nonce   BLOB NOT NULL,
    bytes   BLOB NOT NULL,
    enquiry INTEGER,
    at      INTEGER NOT NULL
);
INSERT INTO new_blobs
    SELECT b.rowid, b.digest, 1, b.nonce, b.bytes, e.rowid, b.at FROM blobs b LEFT JOIN enquiries e ON e.id = b.enquiry;

-- `blob`: the number of its body where that is `alone`: a body that several items or several arrivals share stays until none of
-- them needs it.
CREATE TABLE new_deliveries (
    n       INTEGER PRIMARY KEY,
    id      TEXT NOT NULL,
    item    INTEGER NOT NULL,
    source  TEXT NOT NULL,
    verdict TEXT NOT NULL,
    enquiry INTEGER,
    blob    INTEGER,
    doc     TEXT NOT NULL,
    UNIQUE (id, item)
);
INSERT INTO new_deliveries
    SELECT d.rowid, d.id, d.item, d.source, d.verdict, e.rowid,
           (SELECT b.rowid FROM blobs b WHERE b.digest = unhex(d.doc ->> 'body')), d.doc
    FROM deliveries d LEFT JOIN enquiries e ON e.id = d.enquiry;

CREATE TABLE new_effects (
    n           INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    enquiry     INTEGER NOT NULL,
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
INSERT INTO new_effects
    SELECT f.rowid, f.id, e.rowid, f.target, f.state, f.external_id, f.held_lock, f.due, f.lease_until, f.fence, f.version, f.doc
    FROM effects f LEFT JOIN enquiries e ON e.id = f.enquiry;

CREATE TABLE new_reviews (
    n       INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    enquiry INTEGER NOT NULL,
    open    INTEGER NOT NULL,
    doc     TEXT NOT NULL
);
INSERT INTO new_reviews SELECT r.rowid, r.id, e.rowid, r.open, r.doc FROM reviews r LEFT JOIN enquiries e ON e.id = r.enquiry;

-- With its nonce a body from the ring is let in under the digest that its record names. No nonce of before is known: zeros
-- give another digest than the record's, and who lets such a body in draws a new one.
ALTER TABLE refused ADD COLUMN nonce BLOB NOT NULL DEFAULT x'0000000000000000000000000000000000000000000000000000000000000000';

DROP TABLE journal;
DROP TABLE blobs;
DROP TABLE deliveries;
DROP TABLE effects;
DROP TABLE reviews;
DROP TABLE enquiries;
ALTER TABLE new_enquiries RENAME TO enquiries;
ALTER TABLE new_journal RENAME TO journal;
ALTER TABLE new_blobs RENAME TO blobs;
ALTER TABLE new_deliveries RENAME TO deliveries;
ALTER TABLE new_effects RENAME TO effects;
ALTER TABLE new_reviews RENAME TO reviews;

-- What is due and free is found in the index alone, and so is when the next lease runs out: both are asked at each turn, and
-- in an outage thousands of rows are due.
CREATE INDEX enquiries_due ON enquiries (due, lease_until) WHERE due IS NOT NULL;
CREATE INDEX enquiries_leased ON enquiries (lease_until, due) WHERE lease_until > 0;
CREATE INDEX journal_by_enquiry ON journal (enquiry, stream, seq) WHERE enquiry IS NOT NULL;
CREATE UNIQUE INDEX blobs_alone ON blobs (digest) WHERE alone;
CREATE INDEX blobs_by_enquiry ON blobs (enquiry) WHERE enquiry IS NOT NULL;
CREATE INDEX deliveries_by_enquiry ON deliveries (enquiry) WHERE enquiry IS NOT NULL;
CREATE INDEX deliveries_by_blob ON deliveries (blob) WHERE blob IS NOT NULL;
CREATE INDEX effects_by_enquiry ON effects (enquiry);
CREATE INDEX effects_due ON effects (due, lease_until, target) WHERE due IS NOT NULL;
CREATE INDEX effects_leased ON effects (lease_until, due) WHERE lease_until > 0;
CREATE INDEX effects_external ON effects (external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX effects_lock ON effects (held_lock) WHERE held_lock IS NOT NULL;
CREATE INDEX reviews_by_enquiry ON reviews (enquiry);
CREATE INDEX reviews_open ON reviews (open) WHERE open = 1;
