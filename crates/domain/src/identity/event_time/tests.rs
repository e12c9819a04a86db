use super::*;

fn instant(text: &str) -> Option<(String, Precision)> {
    match EventTime::read(text) {
        EventTime::Instant { at, precision } => Some((instant_text(at), precision)),
        EventTime::Local { .. } | EventTime::Unreadable => None,
    }
}

fn local(text: &str) -> Option<(String, Precision)> {
    match EventTime::read(text) {
        EventTime::Local { at, precision } => Some((at.to_string(), precision)),
        EventTime::Instant { .. } | EventTime::Unreadable => None,
    }
}

#[test]
fn one_instant_has_one_text_however_it_was_written() {
    for written in [
        "2026-03-02T09:15:04Z",
        "2026-03-02T09:15:04.000Z",
        "2026-03-02t09:15:04z",
        "2026-03-02T09:15:04+00:00",
        "2026-03-02T09:15:04-00:00",
        "2026-03-02T09:15:04+0000",
        "2026-03-02T10:15:04+01:00",
        "2026-03-02T05:15:04-04:00",
        "2026-03-02 09:15:04+00",
        "2026-03-02 09:15:04 UTC",
        "2026-03-02 10:15:04 +0100",
        "20260302T091504Z",
        " 2026-03-02T09:15:04Z\n",
        "Mon, 02 Mar 2026 10:15:04 +0100",
        "Mon, 2 Mar 2026 10:15:04 +0100 (CET)",
        "Mon, 2 Mar 2026 04:15:04 -0500 (Central (Daylight) Time \\) )",
        "Mon, (first) 2 Mar 2026 09:15:04 (noted) GMT",
        "2 Mar 2026 09:15:04 UTC",
        "Tue, 2 Mar 2026 09:15:04 +0000",
        "Mon,  2 Mar 2026\r\n 04:15:04 EST",
        "1772442904",
        "1772442904.0",
        "1772442904000",
        "1772442904000000",
    ] {
        assert_eq!(instant(written), Some(("2026-03-02T09:15:04Z".to_owned(), Precision::Second)), "{written}");
    }
}

#[test]
fn fractions_are_kept_to_the_nanosecond_without_trailing_zeros() {
    for (written, text) in [
        ("2026-03-02T09:15:04.120Z", "2026-03-02T09:15:04.12Z"),
        ("2026-03-02T09:15:04,12Z", "2026-03-02T09:15:04.12Z"),
        ("2026-03-02T09:15:04.092125Z", "2026-03-02T09:15:04.092125Z"),
        ("2026-03-02T09:15:04.123456789Z", "2026-03-02T09:15:04.123456789Z"),
        ("2026-03-02T09:15:04.123456789987Z", "2026-03-02T09:15:04.123456789Z"),
        ("2026-03-02T10:15:04.1234567890123+01:00", "2026-03-02T09:15:04.123456789Z"),
        ("1772442904.12", "2026-03-02T09:15:04.12Z"),
        ("1772442904.1234567899", "2026-03-02T09:15:04.123456789Z"),
        ("1772442904120", "2026-03-02T09:15:04.12Z"),
        ("1772442904120.5", "2026-03-02T09:15:04.1205Z"),
        ("1772442904092125", "2026-03-02T09:15:04.092125Z"),
    ] {
        assert_eq!(instant(written), Some((text.to_owned(), Precision::Second)), "{written}");
    }
}

#[test]
fn what_is_coarser_than_a_second_says_so() {
    for written in ["2026-03-02T06:15Z", "2026-03-02T07:15+01:00", "2026-03-02 06:15 UTC", "20260302T0615Z", "Mon, 2 Mar 2026 06:15 +0000"]
    {
        assert_eq!(instant(written), Some(("2026-03-02T06:15:00Z".to_owned(), Precision::Minute)), "{written}");
    }
    for written in ["2026-03-02 06:15", "2026-03-02T06:15", "20260302T0615"] {
        assert_eq!(local(written), Some(("2026-03-02T06:15:00".to_owned(), Precision::Minute)), "{written}");
    }
    assert_eq!(local("2026-03-02"), Some(("2026-03-02T00:00:00".to_owned(), Precision::Day)));
    assert!(Precision::Day.is_coarse() && Precision::Minute.is_coarse() && !Precision::Second.is_coarse());
}

#[test]
fn a_time_without_an_offset_is_local() {
    for written in ["2026-03-02T06:15:04", "2026-03-02 06:15:04", "2026-03-02 06:15:04.000"] {
        assert_eq!(local(written), Some(("2026-03-02T06:15:04".to_owned(), Precision::Second)), "{written}");
    }
}

#[test]
fn what_would_have_to_be_guessed_is_unreadable() {
    for written in [
        "",
        "yesterday",
        "true",
        "03/02/2026 06:15",
        "02.03.2026 06:15",
        "março 2, 2026",
        "6:15 am",
        "2026-13-02T06:15:04Z",
        "2026-02-30",
        "2026-03-02T09:15:05999Z",
        "2026-03-02T10:15:04[Europe/Berlin]",
        "2026-03-02T10:15:04+01:00[Europe/Berlin]",
        "2026-03-02Z",
        // Named zones that RFC 2822 would let pass for UTC, and comments that do not end.
        "Mon, 2 Mar 2026 10:15:04 CET",
        "Mon, 2 Mar 2026 10:15:04 IST",
        "Mon, 2 Mar 2026 10:15:04 +0100 (CET",
        "Mon, 2 Mar 2026 10:15:04",
        // Numbers of another length, signed, or in a float's notation.
        "20260302",
        "20260302061504",
        "177244290",
        "0772442904",
        "-1772442904",
        "1772442904.",
        "1772442904.1.2",
        "1.772442904e9",
        "1772442904120000000",
    ] {
        assert_eq!(EventTime::read(written), EventTime::Unreadable, "{written}");
    }
}

#[test]
fn the_no_value_of_languages_and_databases_is_no_time() {
    for written in [
        "0",
        "0000-00-00 00:00:00",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00",
        "1970-01-01T00:00:00Z",
        "1970-01-01T01:00:00+01:00",
        "1969-12-31T19:00:00-05:00",
        "1970-01-01",
        "Thu, 01 Jan 1970 00:00:00 GMT",
    ] {
        assert_eq!(EventTime::read(written), EventTime::Unreadable, "{written}");
    }
    assert!(instant("1971-01-01T00:00:00Z").is_some());
}

#[test]
fn a_local_time_is_an_instant_unless_the_clock_was_changed_there() {
    let berlin = zone("europe/berlin").unwrap();
    for (written, text, is_ambiguous) in [
        ("2026-03-02T10:15:04", "2026-03-02T09:15:04Z", false),
        ("2026-07-02T10:15:04.50", "2026-07-02T08:15:04.5Z", false),
        // The hour that does not exist, and the one that exists twice.
        ("2026-03-29T01:59:59", "2026-03-29T00:59:59Z", false),
        ("2026-03-29T02:30:00", "2026-03-29T02:30:00[Europe/Berlin]", true),
        ("2026-03-29 02:30", "2026-03-29T02:30:00[Europe/Berlin]", true),
        ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z", false),
        ("2026-10-25T02:30:00", "2026-10-25T02:30:00[Europe/Berlin]", true),
        ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z", false),
        ("2026-10-25", "2026-10-25[Europe/Berlin]", false),
    ] {
        let EventTime::Local { at, precision } = EventTime::read(written) else { panic!("{written} is local") };
        assert_eq!(local_text(at, precision, &berlin), (text.to_owned(), is_ambiguous), "{written}");
    }
}

#[test]
fn a_zone_is_known_by_its_iana_name_only() {
    assert!(zone("America/New_York").is_some());
    assert!(zone("UTC").is_some());
    for unknown in ["", "Mars/Olympus", "Etc/Unknown", "+01:00", "CEST"] {
        assert!(zone(unknown).is_none(), "{unknown}");
    }
}
