//! An HTTP CRM for tests: naive as the ones in the field. Every POST that reaches it makes a record; a script says, per
//! POST, what then becomes of the answer. It follows the shape of the configuration's example, not any vendor.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use domain::time::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of one POST.
#[derive(Clone, Debug)]
pub enum Act {
    /// A record is made and answered.
    Well,
    /// A record is made; the connection is closed with no answer.
    Drop,
    /// No record; the connection is closed with no answer.
    Lose,
    /// No record; this status and body are answered.
    Say(u16, Value),
    /// A record is made; this status and body are answered.
    Make(u16, Value),
    /// A record is made, and never answered. Tells `reached`.
    Hang,
    /// Nothing is done yet; the record is made when `release` is told, then answered. Tells `reached`.
    Wait,
}

/// How look-ups answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// By the key, exactly.
    Honoured,
    /// The filter is unknown: everybody's records are answered.
    Ignored,
    /// 500.
    Broken,
}

#[derive(Debug)]
struct State {
    records: Vec<Value>,
    posts: usize,
    gets: usize,
    script: Vec<Act>,
    then: Act,
    filter: Filter,
    after_post: Option<Filter>,
    unique: bool,
    /// Who knows the time, and how many searches and other calls are answered a second; the rest is told 429.
    quota: Option<Quota>,
    turned_away: usize,
    /// How far its search is behind, by whose clock; and when each record was made.
    lag: Option<Lag>,
    made_at: Vec<i64>,
    searches: Vec<String>,
    reads_with: Option<(String, Value)>,
}

/// A search that sees records late.
struct Lag(Arc<dyn Clock>, i64);

impl std::fmt::Debug for Lag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ms late", self.1)
    }
}

/// What an API allows in each second of a clock.
struct Quota {
    clock: Arc<dyn Clock>,
    most: [usize; 2],
    second: i64,
    used: [usize; 2],
    says: &'static str,
}

impl std::fmt::Debug for Quota {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} a second", self.most)
    }
}

impl Quota {
    /// Whether one more is answered now.
    fn takes(&mut self, kind: usize) -> bool {
        let second = self.clock.now().0.div_euclid(1_000);
        if second != self.second {
            (self.second, self.used) = (second, [0, 0]);
        }
        self.used[kind] += 1;
        self.used[kind] <= self.most[kind]
    }
}

/// The CRM.
#[derive(Clone)]
pub struct Crm {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    pub reached: Arc<tokio::sync::Semaphore>,
    pub release: Arc<tokio::sync::Semaphore>,
}

impl Crm {
    /// Opens on a free loopback port; every POST goes well until told otherwise.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = State {
            records: vec![],
            posts: 0,
            gets: 0,
            script: vec![],
            then: Act::Well,
            filter: Filter::Honoured,
            after_post: None,
            unique: false,
            quota: None,
            turned_away: 0,
            lag: None,
            made_at: vec![],
            searches: vec![],
            reads_with: None,
        };
        let crm = Self {
            address: listener.local_addr().unwrap(),
            state: Arc::new(Mutex::new(state)),
            reached: Arc::new(tokio::sync::Semaphore::new(0)),
            release: Arc::new(tokio::sync::Semaphore::new(0)),
        };
        let serving = crm.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let crm = serving.clone();
                tokio::spawn(async move { drop(crm.serve(stream).await) });
            }
        });
        crm
    }

    /// The next POSTs go so, in this order; those after them like `then`.
    pub fn script(&self, acts: Vec<Act>, then: Act) {
        let mut state = self.state.lock().unwrap();
        state.script = acts;
        state.script.reverse();
        state.then = then;
    }

    pub fn set_filter(&self, filter: Filter) {
        self.state.lock().unwrap().filter = filter;
    }

    /// It refuses a second record with a key, or takes it for the first.
    pub fn set_unique(&self, unique: bool) {
        self.state.lock().unwrap().unique = unique;
    }

    /// It answers so many searches and so many other calls a second; to the rest it says 429 and this header's line.
    pub fn set_quota(&self, clock: Arc<dyn Clock>, most: [usize; 2], says: &'static str) {
        self.state.lock().unwrap().quota = Some(Quota { clock, most, second: 0, used: [0, 0], says });
    }

    /// Its search sees records so much later.
    pub fn set_lag(&self, clock: Arc<dyn Clock>, ms: i64) {
        self.state.lock().unwrap().lag = Some(Lag(clock, ms));
    }

    /// How many calls were told 429 by the quota.
    pub fn turned_away(&self) -> usize {
        self.state.lock().unwrap().turned_away
    }

    /// The keys that were searched for, in order.
    pub fn searches(&self) -> Vec<String> {
        self.state.lock().unwrap().searches.clone()
    }

    /// Look-ups answer so from the next POST on.
    pub fn set_filter_after_post(&self, filter: Filter) {
        self.state.lock().unwrap().after_post = Some(filter);
    }

    /// Reads by id answer with this field changed.
    pub fn read_with(&self, field: &str, value: Value) {
        self.state.lock().unwrap().reads_with = Some((field.to_owned(), value));
    }

    pub fn records(&self) -> Vec<Value> {
        self.state.lock().unwrap().records.clone()
    }

    pub fn add(&self, record: Value) {
        self.state.lock().unwrap().records.push(record);
    }

    /// Records that carry the key.
    pub fn count(&self, key: &str) -> usize {
        self.state.lock().unwrap().records.iter().filter(|r| r["external_key"] == key).count()
    }

    pub fn posts(&self) -> usize {
        self.state.lock().unwrap().posts
    }

    pub fn gets(&self) -> usize {
        self.state.lock().unwrap().gets
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some((method, path, body)) = request(&mut stream).await? else { return Ok(()) };
        let over = {
            let mut state = self.state.lock().unwrap();
            let kind = usize::from(!path.contains("external_key="));
            let over = state.quota.as_mut().and_then(|quota| (!quota.takes(kind)).then_some(quota.says));
            state.turned_away += usize::from(over.is_some());
            over
        };
        if let Some(says) = over {
            let head = format!("HTTP/1.1 429 X\r\n{says}content-length: 0\r\nconnection: close\r\n\r\n");
            return stream.write_all(head.as_bytes()).await;
        }
        let (status, body) = if method == "POST" {
            match self.create(&body).await {
                Some(answer) => answer,
                None => return Ok(()),
            }
        } else {
            self.find(&path)
        };
        let body = body.to_string();
        let head =
            format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await
    }

    async fn create(&self, body: &str) -> Option<(u16, Value)> {
        let act = {
            let mut state = self.state.lock().unwrap();
            state.posts += 1;
            state.filter = state.after_post.take().unwrap_or(state.filter);
            let act = state.script.pop().unwrap_or_else(|| state.then.clone());
            let is_there = |key: &Value| state.records.iter().any(|record| record["external_key"] == *key);
            let asked: Value = serde_json::from_str(body).unwrap_or_default();
            if state.unique && is_there(&asked["external_key"]) { Act::Say(409, json!({"message": "exists"})) } else { act }
        };
        match act {
            Act::Well => Some((201, self.make(body))),
            Act::Drop => {
                self.make(body);
                None
            }
            Act::Lose => None,
            Act::Say(status, body) => Some((status, body)),
            Act::Make(status, answer) => {
                self.make(body);
                Some((status, answer))
            }
            Act::Hang => {
                self.make(body);
                self.reached.add_permits(1);
                std::future::pending().await
            }
            Act::Wait => {
                self.reached.add_permits(1);
                self.release.acquire().await.unwrap().forget();
                Some((201, self.make(body)))
            }
        }
    }

    fn make(&self, body: &str) -> Value {
        let mut state = self.state.lock().unwrap();
        let mut record: Value = serde_json::from_str(body).unwrap();
        record["id"] = json!(format!("rec-{}", state.records.len() + 1));
        state.records.push(record.clone());
        let now = state.lag.as_ref().map_or(0, |lag| lag.0.now().0);
        state.made_at.push(now);
        record
    }

    fn find(&self, path: &str) -> (u16, Value) {
        let mut state = self.state.lock().unwrap();
        state.gets += 1;
        let url = url::Url::parse("http://crm").unwrap().join(path).unwrap();
        let key = url.query_pairs().find(|(name, _)| name == "external_key").map(|(_, key)| key.into_owned());
        if let Some(key) = key {
            state.searches.push(key.clone());
            return match state.filter {
                Filter::Broken => (500, json!({"message": "search is down"})),
                Filter::Ignored => (200, json!({"results": state.records})),
                Filter::Honoured => {
                    let late = state.lag.as_ref().map(|lag| lag.0.now().0 - lag.1);
                    let seen = |n: usize| late.is_none_or(|late| state.made_at.get(n).is_none_or(|made| *made <= late));
                    let found = state.records.iter().enumerate().filter(|(n, r)| r["external_key"] == *key && seen(*n));
                    let found: Vec<&Value> = found.map(|(_, record)| record).collect();
                    (200, json!({"results": found}))
                }
            };
        }
        let id = url.path().rsplit('/').next().unwrap();
        match state.records.iter().find(|r| r["id"] == *id).cloned() {
            Some(mut record) => {
                if let Some((field, value)) = &state.reads_with {
                    record[field] = value.clone();
                }
                (200, record)
            }
            None => (404, json!({"message": "no such record"})),
        }
    }
}

/// A configuration whose only action writes to this CRM. `extra` goes into the target's table, `find` may be empty.
pub fn config(crm: SocketAddr, find: Option<&str>, extra: &str) -> String {
    let consistency = find.unwrap_or_default();
    let find = match find {
        Some(_) => format!(
            r#"find = {{ method = "GET", url = "http://{crm}/deals?external_key={{{{ key|urlencode }}}}", records = "/results", id = "/id", key = "/external_key", consistency = "{consistency}" }}
read = {{ method = "GET", url = "http://{crm}/deals/{{{{ id }}}}", key = "/external_key", expect = {{ "/title" = "{{{{ enquiry.summary }}}}" }} }}"#
        ),
        None => String::new(),
    };
    format!(
        r#"
[[source]]
name = "web"
kind = "generic"
auth = {{ scheme = "none" }}
identity = {{ submission = "/submission_id" }}
map = {{ "contact.email" = "/email", "contact.name" = "/name", message = "/message" }}

[[target]]
name = "crm"
kind = "http"
write = {{ method = "POST", url = "http://{crm}/deals", body = '{{"external_key": {{{{ key|tojson }}}}, "title": {{{{ enquiry.summary|tojson }}}}, "email": {{{{ enquiry.contact.email|tojson }}}}}}', id = "/id" }}
{find}
{extra}

[[action]]
name = "deal"
target = "crm"
"#
    )
}

async fn request(stream: &mut TcpStream) -> std::io::Result<Option<(String, String, String)>> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0_usize) {
                let mut words = head.split_whitespace();
                let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                return Ok(Some((method.to_owned(), path.to_owned(), body.to_owned())));
            }
        }
        let mut part = [0_u8; 4096];
        match stream.read(&mut part).await? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&part[..n]),
        }
    }
}
