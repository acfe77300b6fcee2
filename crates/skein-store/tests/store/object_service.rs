//! An object service at which a test can step in before a request is answered.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use skein_store::blobs::{Blobs, S3Options};
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};

type Act = Box<dyn FnOnce() + Send>;

/// The objects, by their path, and what is to be done before an answer.
#[derive(Clone, Default)]
pub(crate) struct ObjectService {
    objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    before: Arc<Mutex<Option<(&'static str, Act)>>>,
}

impl ObjectService {
    /// Serves until the first of the two is dropped.
    pub(crate) fn serve(&self) -> (HostileServer, Blobs) {
        let service = self.clone();
        let hostile = HostileServer::start(move |request| service.answer(request));
        let blobs = Blobs::s3(&S3Options {
            endpoint: hostile.endpoint(),
            bucket: "bucket".to_owned(),
            region: "us-east-1".to_owned(),
            access_key: "test".to_owned(),
            secret_key: "test".to_owned(),
        });
        (hostile, blobs.unwrap())
    }

    /// Does something once: when a request with this method has come, before it is answered.
    pub(crate) fn before(&self, method: &'static str, act: impl FnOnce() + Send + 'static) {
        *self.before.lock().unwrap() = Some((method, Box::new(act)));
    }

    pub(crate) fn lose_everything(&self) {
        self.objects.lock().unwrap().clear();
    }

    fn answer(&self, request: &Request) -> Behaviour {
        let due = self.before.lock().unwrap().take_if(|(method, _)| request.method == *method);
        if let Some((_, act)) = due {
            act();
        }
        let mut objects = self.objects.lock().unwrap();
        let path = request.path.split('?').next().unwrap_or_default();
        match request.method.as_str() {
            "PUT" => {
                objects.insert(path.to_owned(), request.body.clone());
                Behaviour::answer(200, &[("etag", "\"1\"")], "")
            }
            // Objects are deleted by a list of their names.
            "POST" => {
                let list = String::from_utf8_lossy(&request.body).into_owned();
                objects.retain(|path, _| !path.rsplit('/').next().is_some_and(|name| list.contains(name)));
                let deleted = "<DeleteResult><Deleted><Key>told</Key></Deleted></DeleteResult>";
                Behaviour::answer(200, &[("content-type", "application/xml")], deleted)
            }
            method => objects.get(path).map_or_else(|| Behaviour::answer(404, &[], ""), |bytes| shown(method, bytes)),
        }
    }
}

fn shown(method: &str, bytes: &[u8]) -> Behaviour {
    let described = [("etag", "\"1\""), ("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT")];
    if method != "HEAD" {
        return Behaviour::answer(200, &described, bytes);
    }
    let [(etag, tag), (modified, date)] = described;
    let length = bytes.len();
    let head = format!("HTTP/1.1 200 OK\r\n{etag}: {tag}\r\n{modified}: {date}\r\ncontent-length: {length}\r\n\r\n");
    Behaviour::Raw(head.into_bytes())
}
