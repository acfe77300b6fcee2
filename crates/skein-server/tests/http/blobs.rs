//! Blobs over HTTP: up, down, in part; whose they are; and repeats of uploads.

use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use futures::{TryStreamExt as _, stream};
use skein_core::Digest;
use skein_core::account::{Role, Scope};
use skein_server::http::limits::UPLOADS_PER_USER;
use tokio::sync::oneshot;

use crate::log_lines::{capture, logged};
use crate::server_fixture::{Answer, ServerFixture, both, fresh_key};

const PATH: &str = "/api/v1/blobs";

/// 400 × 2 black pixels.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x90\0\0\0\x02\x08\0\0\0\0\x53\x0d\xd5\xec\
    \0\0\0\x10IDAT\x78\xda\x63\x60\x18\x05\xa3\x60\x14\xe0\x06\0\x03\x22\0\x01\xe9\x26\x6f\x1c\0\0\0\0IEND\xae\x42\x60\x82";

async fn asked(world: &ServerFixture, path: &str, name: &str, value: &str) -> Answer {
    world.send(world.request("GET", path).header(name, value).body(Body::empty()).unwrap()).await
}

fn upload(world: &ServerFixture, key: &str, bytes: impl Into<Body>) -> Request<Body> {
    let request = world.request("POST", PATH).header("content-type", "text/plain");
    request.header("idempotency-key", key).body(bytes.into()).unwrap()
}

both! {
    async fn bytes_come_back_as_they_were_sent_and_run_nowhere(world: &ServerFixture) {
        let made = world.upload(PATH, "text/html", "<script>").await;
        assert_eq!(made.status, StatusCode::CREATED);
        let (hash, view) = (Digest::of(b"<script>"), made.json());
        assert_eq!((view["hash"].as_str(), view["size"].as_i64()), (Some(hash.to_string().as_str()), Some(8)));
        assert_eq!(made.header("location"), format!("{PATH}/{hash}"));
        let read = world.get(&format!("{PATH}/{hash}")).await;
        assert_eq!((read.status, read.text.as_str()), (StatusCode::OK, "<script>"));
        assert_eq!(read.header("content-type"), "text/html");
        assert_eq!((read.header("content-disposition"), read.header("accept-ranges")), ("attachment", "bytes"));
        assert_eq!(read.header("x-content-type-options"), "nosniff");
        let item = world.get(&format!("/api/v1/items/{}", view["itemId"].as_str().unwrap())).await.json();
        assert_eq!(item["data"]["hash"], view["hash"]);
    }

    async fn mg_blob_001_an_upload_is_kept_under_its_type_before_it_is_acknowledged_holds(world: &ServerFixture) {
        for (media_type, bytes) in [("image/png", PNG), ("text/plain; charset=utf-8", b"herons".as_slice()), ("application/vnd.x+json", b"{}"),
            ("text/plain;charset=utf-8; note=\"a; \\\"b\\\"\"", b"quoted")] {
            let made = world.upload(PATH, media_type, bytes).await.json();
            let hash = made["hash"].as_str().unwrap();
            assert_eq!(std::fs::read(world.blob_file(hash)).unwrap(), bytes);
            let item = world.get(&format!("/api/v1/items/{}", made["itemId"].as_str().unwrap())).await.json();
            assert_eq!((&item["_type"], item["data"]["mediaType"].as_str()), (&"BlobAttached".into(), Some(media_type)), "{item}");
            let read = world.begin(world.request("GET", &format!("{PATH}/{hash}")).body(Body::empty()).unwrap()).await;
            assert_eq!(read.headers()["content-type"], media_type);
        }
    }

    async fn mg_blob_001_bytes_without_a_type_or_that_cannot_be_kept_refuse_to_be_recorded(world: &ServerFixture) {
        let mark = world.mark().await;
        for media_type in ["picture", "image/", "/png", "image", "image png", " / ", "/image/png", "image/a b", "image/png/x", "*/*",
            "image/*", "image/png; x", "image/png; =1", "text/plain; a=\"b", "text/plain; a=b c"] {
            let refused = world.upload(PATH, media_type, "x").await;
            assert_eq!(refused.breaks(), (422, "MG-BLOB-001".to_owned()), "{media_type:?}: {}", refused.text);
        }
        // A file stands where the folder of these bytes has to be.
        let file = world.blob_file(&Digest::of(b"herons").to_string());
        let folder = file.parent().unwrap();
        std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
        std::fs::write(folder, "in the way").unwrap();
        let failed = world.upload(PATH, "text/plain", "herons").await;
        assert!(failed.status.is_server_error(), "{}", failed.text);
        assert_eq!(world.written_since(mark).await, 0);
        std::fs::remove_file(folder).unwrap();
        assert_eq!(world.upload(PATH, "text/plain", "herons").await.status, StatusCode::CREATED);
    }

    async fn mg_blob_001_a_type_that_is_left_out_is_any_bytes_and_two_types_are_refused_holds(world: &ServerFixture) {
        let ask = |types: &[&str]| {
            let request = world.request("POST", PATH).header("idempotency-key", fresh_key());
            types.iter().fold(request, |request, one| request.header("content-type", *one)).body(Body::from("x")).unwrap()
        };
        let made = world.send(ask(&[])).await;
        assert_eq!((made.status, &made.json()["mediaType"]), (StatusCode::CREATED, &"application/octet-stream".into()));
        let two = world.send(ask(&["image/png", "text/plain"])).await;
        assert_eq!(two.refused(), (400, "invalid_body".to_owned()), "{}", two.text);
    }

    async fn parts_are_served_and_what_is_beyond_is_not(world: &ServerFixture) {
        let hash = world.upload(PATH, "text/plain", "0123456789").await.json()["hash"].as_str().unwrap().to_owned();
        let path = format!("{PATH}/{hash}");
        for (range, text, told) in [
            ("bytes=0-0", "0", "0-0"),
            ("bytes=7-", "789", "7-9"),
            ("bytes=-2", "89", "8-9"),
            ("bytes=5-99", "56789", "5-9"),
        ] {
            let part = asked(world, &path, "range", range).await;
            assert_eq!((part.status, part.text.as_str()), (StatusCode::PARTIAL_CONTENT, text), "{range}");
            assert_eq!(part.header("content-range"), format!("bytes {told}/10"));
        }
        let beyond = asked(world, &path, "range", "bytes=10-").await;
        assert_eq!(beyond.refused(), (416, "range_not_satisfiable".to_owned()));
        assert_eq!(beyond.header("content-range"), "bytes */10");
        let several = asked(world, &path, "range", "bytes=0-1,3-4").await;
        assert_eq!((several.status, several.text.as_str()), (StatusCode::OK, "0123456789"));
    }

    async fn many_bytes_come_in_pieces_with_their_length_told_before(world: &ServerFixture) {
        let bytes = Bytes::from(vec![b'x'; 1 << 20]);
        let made = world.upload(PATH, "application/x-test", bytes.clone()).await.json();
        let path = format!("{PATH}/{}", made["hash"].as_str().unwrap());
        for (range, length) in [("bytes=0-", 1 << 20), ("bytes=5-600004", 600_000)] {
            let request = world.request("GET", &path).header("range", range).body(Body::empty()).unwrap();
            let response = world.begin(request).await;
            assert_eq!(response.headers()["content-length"], length.to_string(), "{range}");
            let pieces: Vec<Bytes> = response.into_body().into_data_stream().try_collect().await.unwrap();
            assert!(pieces.len() > 1 && pieces.concat().len() == length, "{range}: {} pieces", pieces.len());
        }
        assert_eq!(world.download(&path).await, bytes);
        let whole = world.begin(world.request("GET", &path).body(Body::empty()).unwrap()).await;
        assert_eq!(whole.headers()["content-length"], "1048576");
    }

    async fn what_a_client_has_is_not_sent_again(world: &ServerFixture) {
        let hash = world.upload(PATH, "text/plain", "abc").await.json()["hash"].as_str().unwrap().to_owned();
        let path = format!("{PATH}/{hash}");
        let tag = world.get(&path).await.header("etag").to_owned();
        assert_eq!(tag, format!("\"{hash}\""));
        let known = asked(world, &path, "if-none-match", &tag).await;
        let told = (known.status, known.text.as_str(), known.header("etag"));
        assert_eq!(told, (StatusCode::NOT_MODIFIED, "", tag.as_str()));
        assert_eq!(asked(world, &path, "if-none-match", "\"other\"").await.text, "abc");
    }

    async fn a_hash_opens_nothing_to_whoever_did_not_attach_it(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let hash = world.upload(PATH, "text/plain", "abc").await.json()["hash"].as_str().unwrap().to_owned();
        let path = format!("{PATH}/{hash}");
        let (foreign, missing) = (anna.get(&path).await, anna.get(&format!("{PATH}/{}", Digest::of(b"none"))).await);
        assert_eq!((foreign.refused(), missing.refused().0), ((404, "not_found".to_owned()), 404));
        assert_eq!(asked(&anna, &path, "if-none-match", &format!("\"{hash}\"")).await.status, StatusCode::NOT_FOUND);
        // The same bytes of somebody else are theirs, with the type they say.
        let hers = anna.upload(PATH, "text/csv", "abc").await;
        assert_eq!((hers.status, hers.json()["hash"].as_str()), (StatusCode::CREATED, Some(hash.as_str())));
        assert_eq!(anna.get(&path).await.header("content-type"), "text/csv");
        assert_eq!(world.get(&path).await.header("content-type"), "text/plain");
    }

    async fn ag_content_002_a_small_picture_of_an_image_is_drawn_holds(world: &ServerFixture) {
        let made = world.upload(PATH, "image/png", PNG).await.json();
        let (hash, item) = (made["hash"].as_str().unwrap(), made["itemId"].as_str().unwrap());
        let path = format!("{PATH}/{hash}/thumbnail");
        let drawn = world.download(&path).await;
        assert_eq!((&drawn[..8], &drawn[16..24]), (&PNG[..8], &[0, 0, 0, 200, 0, 0, 0, 1][..]));
        let tag = format!("\"{hash}-thumbnail\"");
        let known = asked(world, &path, "if-none-match", &tag).await;
        let told = (known.status, known.header("content-type"), known.header("etag"));
        assert_eq!(told, (StatusCode::NOT_MODIFIED, "image/png", tag.as_str()));
        // What was destroyed is not drawn either.
        world.changed("POST", &format!("/api/v1/items/{item}/redact"), &serde_json::json!({ "reason": "asked to" })).await;
        assert_eq!(asked(world, &path, "if-none-match", &tag).await.refused().0, 404);
        assert_eq!(world.get(&path).await.refused().0, 404);
    }

    async fn ag_content_002_a_picture_of_what_is_no_image_or_anothers_refuses(world: &ServerFixture) {
        let cut = [&PNG[..40], b"and nothing of an image"].concat();
        for bytes in [b"<svg/>".to_vec(), cut, vec![0; 21 << 20]] {
            let hash = world.upload(PATH, "image/png", bytes).await.json()["hash"].as_str().unwrap().to_owned();
            let refused = world.get(&format!("{PATH}/{hash}/thumbnail")).await;
            assert_eq!(refused.breaks(), (422, "AG-CONTENT-002".to_owned()));
        }
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let hash = world.upload(PATH, "image/png", PNG).await.json()["hash"].as_str().unwrap().to_owned();
        let path = format!("{PATH}/{hash}/thumbnail");
        assert_eq!(anna.get(&path).await.refused().0, 404);
        let tag = format!("\"{hash}-thumbnail\"");
        assert_eq!(asked(&anna, &path, "if-none-match", &tag).await.status, StatusCode::NOT_FOUND);
    }

    async fn an_upload_is_replayed_and_its_key_is_for_these_bytes_alone(world: &ServerFixture) {
        let key = fresh_key();
        let first = world.send(upload(world, &key, "abc")).await;
        let items = world.count().await;
        let again = world.send(upload(world, &key, "abc")).await;
        assert_eq!((again.status, again.header("idempotent-replayed")), (StatusCode::OK, "true"));
        assert_eq!(again.json(), first.json());
        let other = world.send(upload(world, &key, "abd")).await;
        assert_eq!(other.refused(), (409, "idempotency_payload_mismatch".to_owned()));
        assert_eq!(world.count().await, items);
    }

    async fn br_idemp_005_an_upload_in_flight_refuses_its_repeat_until_it_has_arrived(world: &ServerFixture) {
        let (key, (begun, has_begun), (finish, finished)) = (fresh_key(), oneshot::channel(), oneshot::channel());
        // The body is asked for once the place is taken, and ends when the test says so.
        let body = stream::once(async move {
            begun.send(()).unwrap();
            finished.await.unwrap();
            Ok::<_, std::io::Error>(Bytes::from_static(b"abc"))
        });
        let request = upload(world, &key, Body::from_stream(body));
        let sending = tokio::spawn({
            let world = world.clone();
            async move { world.send(request).await }
        });
        has_begun.await.unwrap();
        let repeat = world.send(upload(world, &key, "abc")).await;
        assert_eq!(repeat.refused(), (409, "idempotency_in_flight".to_owned()));
        assert_eq!((repeat.breaks().1.as_str(), &repeat.json()["error"]["retryable"]), ("BR-IDEMP-005", &true.into()));
        finish.send(()).unwrap();
        let first = sending.await.unwrap();
        assert_eq!(first.status, StatusCode::CREATED);
        let again = world.send(upload(world, &key, "abc")).await;
        assert_eq!((again.status, again.json()), (StatusCode::OK, first.json()));
    }

    async fn an_upload_that_broke_off_or_was_refused_may_be_tried_again(world: &ServerFixture) {
        let key = fresh_key();
        let broken = stream::iter([Ok(Bytes::from_static(b"ab")), Err(std::io::Error::other("cut"))]);
        let cut = world.send(upload(world, &key, Body::from_stream(broken))).await;
        assert_eq!(cut.refused(), (400, "invalid_body".to_owned()));
        let again = world.send(upload(world, &key, "abc")).await;
        assert_eq!((again.status, again.json()["size"].as_i64()), (StatusCode::CREATED, Some(3)));
        let untyped = world.upload(PATH, "nothing", "abc").await;
        assert_eq!(untyped.breaks(), (422, "MG-BLOB-001".to_owned()));
    }
}

#[tokio::test]
async fn a_user_with_too_many_uploads_under_way_is_refused_and_others_are_not() {
    let world = ServerFixture::new().await;
    let anna = world.joined_by("anna", Role::User, Scope::Write).await;
    let mut arriving = Vec::new();
    for _ in 0..UPLOADS_PER_USER {
        let (begun, has_begun) = oneshot::channel();
        let body = stream::once(async move {
            begun.send(()).unwrap();
            std::future::pending::<Result<Bytes, std::io::Error>>().await
        });
        let request = upload(&anna, &fresh_key(), Body::from_stream(body));
        let user = anna.clone();
        arriving.push(tokio::spawn(async move { user.send(request).await }));
        has_begun.await.unwrap();
    }
    let refused = anna.send(upload(&anna, &fresh_key(), "abc")).await;
    assert_eq!(refused.refused(), (429, "too_many_at_once".to_owned()));
    assert_eq!((refused.header("retry-after"), &refused.json()["error"]["retryable"]), ("1", &true.into()));
    assert_eq!(world.send(upload(&world, &fresh_key(), "abc")).await.status, StatusCode::CREATED);
    let given_up = arriving.pop().unwrap();
    given_up.abort();
    assert!(given_up.await.is_err());
    assert_eq!(anna.send(upload(&anna, &fresh_key(), "abc")).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn an_altered_blob_is_refused_and_a_long_one_is_cut_off_and_logged() {
    let world = ServerFixture::new().await;
    capture();
    for length in [3, 1 << 20] {
        let hash =
            world.upload(PATH, "text/plain", vec![b'x'; length]).await.json()["hash"].as_str().unwrap().to_owned();
        world.alter_blob(&hash);
        let request = world.request("GET", &format!("{PATH}/{hash}")).body(Body::empty()).unwrap();
        let response = world.begin(request).await;
        let is_short = length == 3;
        let expected = if is_short { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
        assert_eq!(response.status(), expected);
        let pieces: Result<Vec<Bytes>, _> = response.into_body().into_data_stream().try_collect().await;
        assert_eq!(pieces.is_ok(), is_short);
        let log = logged();
        assert!(log.contains("now has the hash"), "{log}");
        assert_eq!(log.contains("a blob broke off"), !is_short, "{log}");
        assert_eq!(log.contains("bytes=1048576"), !is_short, "{log}");
    }
}
