//! Bodies of any kind, sent as a sender would who has heard no answer: twice.

use serde_json::Value;
use store::Dossier;

use super::World;

pub const JSON: &str = "application/json";
pub const FORM: &str = "application/x-www-form-urlencoded";

impl World {
    pub async fn send(&self, source: &str, content_type: &str, body: &[u8]) -> Value {
        self.deliver(source, &[("content-type", content_type)], body).await
    }

    /// Sends it twice; the dossier of the one enquiry that it is. Its bytes are kept as they came.
    pub async fn entered(&self, source: &str, content_type: &str, body: &[u8]) -> Dossier {
        let first = self.send(source, content_type, body).await;
        assert!(first["verdict"] == "accepted" || first["verdict"] == "look_alike", "{first}");
        assert_eq!(self.send(source, content_type, body).await["verdict"], "redelivery");
        let kept = self.app.store.delivery(first["delivery"].as_str().unwrap()).await.unwrap().unwrap();
        assert_eq!(kept.body.unwrap().bytes, body, "the raw body is kept as it came");
        self.dossier(first["key"].as_str().unwrap()).await
    }
}
