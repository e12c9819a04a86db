use serde_json::json;

use super::*;

fn render(place: Place, source: &str) -> Result<String, String> {
    let told = json!({
        "key": "old", "action": "deal", "ordinal": 0, "qualification": null,
        "enquiry": {"summary": "A \"b\"\n{{ key }}", "contact": {"email": "a+b@example.com", "name": null}, "other": {}},
    });
    Template::compile("write.body", source, place)?.render(&scene("web:submission:a/b", &told, None))
}

#[test]
fn values_are_escaped_for_the_place_they_stand_in() {
    let cases = [
        (Place::Json, r#"{"t": {{ enquiry.summary|tojson }}}"#, r#"{"t": "A \"b\"\n{{ key }}"}"#),
        (Place::Json, r#"{"t": "Lead: {{ enquiry.summary }}"}"#, r#"{"t": "Lead: A \"b\"\n{{ key }}"}"#),
        (Place::Json, r#"{"n": {{ enquiry.contact.name|tojson }}}"#, r#"{"n": null}"#),
        (Place::Json, r#"{"n": "{{ enquiry.contact.name }}"}"#, r#"{"n": ""}"#),
        (Place::Url, "http://x/?k={{ key|urlencode }}", "http://x/?k=web%3Asubmission%3Aa%2Fb"),
        (Place::Url, "http://x/{{ enquiry.contact.email }}", "http://x/a%2Bb%40example.com"),
        (Place::Url, "{{ key|safe }}", "web:submission:a/b"),
        (Place::Text, "{{ enquiry.contact.email }} {{ enquiry.contact.name }}.", "a+b@example.com ."),
        (Place::Text, "{{ enquiry.other.size|default('?') }}", "?"),
        (Place::Json, "{{ qualification.budget|tojson }}", "null"),
        (Place::Text, "{{ enquiry.contact.name|default('you', true) }}", "you"),
    ];
    for (place, source, expected) in cases {
        assert_eq!(render(place, source).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        (Place::Json, "{{ enquiry.other.size|tojson }}", "undefined"),
        (Place::Url, "{{ enquiry.other.size|urlencode }}", "undefined"),
        (Place::Url, "x{{ enquiry.other.size }}", "undefined"),
        (Place::Url, "x/{{ enquiry.contact.name }}", "null"),
        (Place::Text, "{{ enqury.summary }}", "there is no `enqury`"),
        (Place::Json, "{{ secret('env:TOKEN') }}", "headers only"),
        (Place::Text, "{{ enquiry.sumary }}", "there is no `enquiry.sumary`: `enquiry` has id, "),
        (Place::Text, "{% if enquiry.contact.mail %}x{% endif %}", "there is no `enquiry.contact.mail`: `enquiry.contact` has email, "),
        (Place::Json, "{{ qualification.prio|tojson }}", "there is no `qualification.prio`"),
        (Place::Text, "{% if %}", "line 1"),
        (Place::Text, &format!("{{{{ 1{} }}}}", " + 1".repeat(30_000)), "at most"),
        (Place::Text, "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}", "fuel"),
    ];
    for (place, source, words) in cases {
        let why = render(place, source).unwrap_err();
        assert!(why.starts_with("write.body") && why.contains(words), "{source}: {why}");
    }
}

#[test]
fn a_headers_template_may_ask_for_secrets() {
    let secrets: Secrets = Arc::new(|reference| match reference {
        "env:TOKEN" => Ok("s3cret".to_owned()),
        other => Err(format!("{other} is not set")),
    });
    let scene = scene("k", &json!({}), None);
    let bearer = Template::header("headers.Authorization", "Bearer {{ secret('env:TOKEN') }}", &secrets).unwrap();
    assert_eq!(bearer.render(&scene).as_deref(), Ok("Bearer s3cret"));
    assert!(bearer.is_secret());
    let basic = Template::header("headers.Authorization", "Basic {{ ('u:' ~ secret('env:TOKEN'))|base64 }}", &secrets).unwrap();
    assert_eq!(basic.render(&scene).as_deref(), Ok("Basic dTpzM2NyZXQ="));
    let plain = Template::header("headers.Idempotency-Key", "{{ key }}", &secrets).unwrap();
    assert_eq!((plain.render(&scene).as_deref(), plain.is_secret()), (Ok("k"), false));
    let missing = Template::header("headers.A", "{{ secret('env:GONE') }}", &secrets).unwrap();
    assert!(missing.render(&scene).unwrap_err().contains("env:GONE is not set"));
}
