use super::*;

fn asked(message: &str) -> (Qualification, Vec<String>) {
    let mut fields = Fields::default();
    fields.set("contact.email", "avery@example.com");
    fields.set("message", message);
    read(&fields)
}

#[test]
fn the_tables_tell_what_is_wanted() {
    let cases = [
        ("Could you send me a quote for ten chairs?", "sales", true, 0.9),
        ("Bitte senden Sie uns ein Angebot für zehn Stühle.", "sales", true, 0.9),
        ("Was kostet die Wartung im Jahr?", "sales", true, 0.9),
        ("The heater you sold me stopped working.", "support", true, 0.8),
        ("Die Anlage funktioniert nicht, Fehlermeldung E4", "support", true, 0.8),
        ("Please find attached my CV. What is the price of nothing?", "job", false, 0.8),
        ("Hiermit sende ich Ihnen meine Bewerbung", "job", false, 0.8),
        ("We rank your website on the first page of Google!", "spam", false, 0.9),
        ("SEO and domain authority: http://spam.example", "spam", false, 0.9),
        ("We need help with our SEO, what would it cost?", "sales", true, 0.9),
        ("Automatic reply: I am away, ask for a quote later", "other", false, 0.8),
        ("Do you also come to Potsdam?", "other", true, 0.8),
    ];
    for (message, request_type, qualified, confidence) in cases {
        let (q, reasons) = asked(message);
        assert_eq!((q.request_type.as_str(), q.qualified), (request_type, qualified), "{message}: {reasons:?}");
        assert!((q.confidence - confidence).abs() < 1e-9, "{message}: {}", q.confidence);
    }
}

#[test]
fn a_reason_names_the_word_of_the_table() {
    let (_, reasons) = asked("It is urgent: please quote, budget 5k EUR");
    assert_eq!(reasons, ["sales: \"quote\"", "high priority: \"urgent\"", "an amount is named"]);
}

#[test]
fn no_contact_or_no_message_is_uncertain_and_not_qualified() {
    let mut fields = Fields::default();
    fields.set("message", "Send me a quote");
    let (q, _) = read(&fields);
    assert_eq!((q.qualified, q.confidence, q.request_type.as_str()), (false, 0.5, "sales"));
    let mut fields = Fields::default();
    fields.set("contact.name", "Avery  Quill");
    fields.set("contact.phone", "+49 30 1");
    let (q, reasons) = read(&fields);
    assert_eq!((q.qualified, q.confidence, q.summary.as_str()), (false, 0.5, "Enquiry from Avery Quill"));
    assert_eq!(reasons, ["no message"]);
    assert_eq!(read(&Fields::default()).0.summary, "Enquiry");
}

#[test]
fn hurry_is_heard_and_its_denial_too() {
    let cases = [
        ("We need it ASAP", Priority::High),
        ("Es ist dringend", Priority::High),
        ("This is not urgent", Priority::Low),
        ("Nicht dringend, hat Zeit", Priority::Low),
        ("We need ten chairs", Priority::Normal),
        ("The insurgents", Priority::Normal),
    ];
    for (message, priority) in cases {
        assert_eq!(asked(message).0.priority, priority, "{message}");
    }
}

#[test]
fn an_amount_is_found_as_written() {
    let cases = [
        ("Our budget is €5,000 or so", Some("€5,000")),
        ("up to 10.000 Euro, please", Some("10.000 Euro")),
        ("around $10k", Some("$10k")),
        ("around 10k USD", Some("10k USD")),
        ("CHF 12'500.-", Some("CHF 12'500")),
        ("5 000 € am 3. Mai", Some("5 000 €")),
        ("between 3,000-4,500 EUR", Some("3,000-4,500 EUR")),
        ("20 Tsd. € für 3 Räume", Some("20 Tsd. €")),
        ("ten chairs, 4 tables, room 12", None),
        ("+49 30 123456", None),
        ("we are 20 europeans", None),
        ("", None),
    ];
    for (message, budget) in cases {
        assert_eq!(asked(message).0.budget.as_deref(), budget, "{message}");
    }
}

#[test]
fn contact_facts_are_those_that_stand_in_the_text() {
    let facts = asked("Call +49 (30) 123-4567 or 030 123456789, mail <b.c@example.org>, or b.c@example.org. Not on 01.02.2026, not @me.")
        .0
        .contact_facts;
    assert_eq!(facts, ["email: b.c@example.org", "phone: +49 (30) 123-4567", "phone: 030 123456789"]);
    let many = ["a", "b", "c", "d", "e", "f", "g"].map(|name| format!("{name}@example.org")).join(" ");
    assert_eq!(asked(&many).0.contact_facts.len(), 5);
}

#[test]
fn a_summary_is_one_line_that_fits() {
    let cases = [
        ("Hello,\n\nwe need ten chairs. They should be red.", "we need ten chairs."),
        ("Guten Tag Frau Muster,\nwir suchen Stühle", "wir suchen Stühle"),
        ("Hi", "Hi"),
        ("Hi, can you quote ten chairs?", "Hi, can you quote ten chairs?"),
        ("Version 2.1 is broken! Help.", "Version 2.1 is broken!"),
        ("\u{202E}gnirts\u{0} \t one", "gnirts one"),
        ("\u{0}\u{1}", "Enquiry from avery@example.com"),
    ];
    for (message, summary) in cases {
        assert_eq!(asked(message).0.summary, summary, "{message}");
    }
    let long = asked(&"ü".repeat(200)).0.summary;
    assert_eq!((long.chars().count(), long.ends_with('…')), (80, true));
}

#[test]
fn no_text_makes_it_panic() {
    let odd = [
        "\0",
        "🦀🦀🦀",
        "👩‍👩‍👧‍👦 €",
        "€",
        "$",
        "€€1€€",
        "1€1€1",
        "شكرا جزيلا ١٢٣ €",
        "مرحبا\u{202E}5 EUR",
        "5",
        "5 ",
        "5\u{A0}",
        "5\u{202F}000\u{202F}€",
        "@",
        "a@",
        "@b.c",
        "a@b",
        "+",
        "+++++++",
        "0",
        "K",
        "5k",
        "5 tsd",
        "5 TSD.",
        "ſ5ſeur",
        "İstanbul 5 EUR",
        "ß",
        "…",
        "?!.",
        ". . .",
        "\r\n\r\n",
        "-5-",
        "5-–5’",
        "EUR",
        "eur5",
        "5eur",
        "5EURO",
        "5euroſ",
    ];
    for text in odd {
        drop(asked(text));
        drop(asked(&text.repeat(3)));
    }
    for unit in ["a", "🦀", "5", "5 ", "€5", "+5", "a@b.cd ", "ه", "\n", "hello, "] {
        drop(asked(&unit.repeat(300_000 / unit.len())));
    }
}

#[test]
fn any_cut_of_any_text_is_read() {
    let text = "Hi, 🦀 budget 5.000 € – ASAP! +49 30 1234567, a.b@example.com ٣ ﷽ e\u{301}\u{202E}\0 Ǆ CHF 1'000.";
    for (at, _) in text.char_indices() {
        drop(asked(&text[..at]));
        drop(asked(&text[at..]));
    }
}

#[tokio::test]
async fn it_answers_as_a_qualifier() {
    let mut fields = Fields::default();
    fields.set("contact.email", "a@example.com");
    fields.set("message", "A quote, please");
    assert_eq!(Rules.name(), "rules/1");
    assert_eq!(Rules.qualify(&fields).await.unwrap().result, read(&fields).0);
}
