//! Each layer overrides the one before, says where a value came from, and refuses what cannot be meant.

use std::fs;

use super::*;
use crate::exit::Exit;

struct Layers {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
    flags: SettingsLayer,
}

impl Layers {
    fn new(file: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some(text) = file {
            let path = folder.path().join(".config/skein");
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("skein.toml"), text).unwrap();
        }
        Self { folder, variables: Vec::new(), flags: SettingsLayer::new() }
    }

    fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    fn flag(mut self, name: Name, value: &str) -> Self {
        self.flags.insert(name, Value::Text(value.to_owned()));
        self
    }

    fn resolve(&self) -> Result<Configuration, Failure> {
        self.resolve_named(None)
    }

    fn resolve_named(&self, file: Option<&str>) -> Result<Configuration, Failure> {
        let variables = self.variables.iter().map(|(name, value)| ((*name).into(), value.into()));
        let home = ("HOME".into(), self.folder.path().into());
        let environment: Environment = variables.chain([home]).collect();
        Configuration::resolve(file.map(|name| self.folder.path().join(name)), self.flags.clone(), &environment)
    }
}

fn listen(layers: &Layers) -> (String, String) {
    let configuration = layers.resolve().unwrap();
    let origin = configuration.origin(Name::Listen).to_string();
    let origin = origin.rsplit('/').next().unwrap().to_owned();
    (configuration.text(Name::Listen).unwrap().to_owned(), origin)
}

fn pair(value: &str, origin: &str) -> (String, String) {
    (value.to_owned(), origin.to_owned())
}

#[test]
fn each_layer_overrides_the_one_before() {
    let file = "# here\nlisten = \"127.0.0.1:2\"\n";
    assert_eq!(listen(&Layers::new(None)), pair("127.0.0.1:7420", "default"));
    assert_eq!(listen(&Layers::new(Some(file))), pair("127.0.0.1:2", "skein.toml:2"));
    let layers = Layers::new(Some(file)).variable("SKEIN_LISTEN", "127.0.0.1:3");
    assert_eq!(listen(&layers), pair("127.0.0.1:3", "SKEIN_LISTEN"));
    let layers = layers.flag(Name::Listen, "127.0.0.1:4");
    assert_eq!(listen(&layers), pair("127.0.0.1:4", "--listen"));
}

#[test]
fn an_empty_value_counts_as_not_given() {
    let layers = Layers::new(Some("listen = \"\"")).variable("SKEIN_LISTEN", "").flag(Name::Listen, "");
    assert_eq!(listen(&layers), pair("127.0.0.1:7420", "default"));
}

#[test]
fn tables_lists_and_paths_are_read() {
    let file = "dir = \"/a\"\nallow_hosts = [\"a\", \"b\"]\n[s3]\nbucket = \"x\"\n[jwt]\naudience = \"y\"\n";
    let configuration = Layers::new(Some(file)).resolve().unwrap();
    assert_eq!(configuration.path(Name::Dir), Some(Path::new("/a")));
    assert_eq!(configuration.list(Name::AllowHosts), ["a", "b"]);
    assert_eq!(configuration.text(Name::S3Bucket), Some("x"));
    assert_eq!(configuration.text(Name::JwtAudience), Some("y"));
    let layers = Layers::new(None).variable("SKEIN_ALLOW_HOSTS", "a, b,");
    assert_eq!(layers.resolve().unwrap().list(Name::AllowHosts), ["a", "b"]);
}

#[test]
fn the_directory_follows_the_desktop_convention() {
    let layers = Layers::new(None);
    let usual = layers.folder.path().join(".local/share/skein");
    assert_eq!(layers.resolve().unwrap().path(Name::Dir), Some(usual.as_path()));
    let layers = layers.variable("XDG_DATA_HOME", "/data");
    assert_eq!(layers.resolve().unwrap().path(Name::Dir), Some(Path::new("/data/skein")));
    let nowhere = Configuration::resolve(None, SettingsLayer::new(), &Environment::default()).unwrap();
    assert_eq!(nowhere.path(Name::Dir), None);
}

fn check_refused(file: &str, told: &str) {
    let failure = Layers::new(Some(file)).resolve().unwrap_err();
    assert_eq!(failure.exit, Exit::Usage, "{file}");
    assert!(failure.error().contains(told), "{file}: {}", failure.error());
}

#[test]
fn a_file_that_cannot_be_meant_is_refused_by_line() {
    check_refused(
        "dir = \"/a\"\n\ndatabse = \"x\"",
        "skein.toml:3: there is no setting \"databse\"; did you mean database?",
    );
    check_refused("[s3]\nbuket = \"x\"", "skein.toml:2: there is no setting \"s3.buket\"; did you mean s3.bucket?");
    check_refused("colour = \"red\"", "skein.toml:1: there is no setting \"colour\"");
    check_refused("dir = 7", "skein.toml:1: dir takes a text in quotes, not a number");
    check_refused("allow_hosts = \"a\"", "allow_hosts takes a list of texts, not a text");
    check_refused("allow_hosts = [1]", "allow_hosts takes texts");
    check_refused("s3 = \"x\"", "there is no setting \"s3\"");
    check_refused("log_format = \"xml\"", "log_format: \"xml\" is none of text, json");
    check_refused("dir = \n", "skein.toml:1: ");
    check_refused("[vault]\nkey = \"x\"", "skein.toml:2: vault.key is not kept in a file; set SKEIN_VAULT_KEY");
}

#[test]
fn a_missing_file_is_an_error_only_when_it_was_named() {
    let layers = Layers::new(None);
    assert!(layers.resolve().is_ok());
    let failure = layers.resolve_named(Some("none.toml")).unwrap_err();
    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.error().contains("none.toml"), "{}", failure.error());
    let layers = layers.variable("SKEIN_CONFIG", "/nowhere/none.toml");
    assert!(layers.resolve().is_err());
}

#[test]
fn a_named_file_stands_in_place_of_the_usual_one() {
    let layers = Layers::new(Some("listen = \"127.0.0.1:2\""));
    fs::write(layers.folder.path().join("other.toml"), "log = \"debug\"").unwrap();
    let configuration = layers.resolve_named(Some("other.toml")).unwrap();
    assert_eq!(configuration.text(Name::Listen), Some("127.0.0.1:7420"));
    assert_eq!(configuration.text(Name::Log), Some("debug"));
}

#[test]
fn a_value_that_stands_for_nothing_is_refused_with_where_it_came_from() {
    let layers = Layers::new(None).variable("SKEIN_LISTEN", "here");
    let configuration = layers.resolve().unwrap();
    let failure = configuration.parsed::<std::net::SocketAddr>(Name::Listen, "give an address").unwrap_err();
    assert_eq!(failure.error(), "listen (SKEIN_LISTEN) cannot be \"here\"");
    let layers = Layers::new(None).variable("SKEIN_LOG_FORMAT", "xml");
    assert!(layers.resolve().unwrap_err().error().contains("SKEIN_LOG_FORMAT"));
}

#[test]
fn secrets_and_passwords_are_not_shown() {
    let show = |name: Name, value: &str| shown(name.setting(), &Value::Text(value.to_owned()));
    assert_eq!(show(Name::Key, "sk_secret"), "set");
    assert_eq!(show(Name::S3SecretKey, "hunter2"), "set");
    assert_eq!(show(Name::VaultKey, "hunter2"), "set");
    let database = "postgres://anna:p@ss@db.example:5432/skein?password=x";
    assert_eq!(show(Name::Database, database), "postgres://db.example:5432/skein");
}

#[test]
fn the_sample_says_nothing_as_it_is_and_is_whole_when_uncommented() {
    let mut sample = Vec::new();
    write_sample(&mut sample).unwrap();
    let sample = String::from_utf8(sample).unwrap();
    assert_eq!(listen(&Layers::new(Some(&sample))), pair("127.0.0.1:7420", "default"));
    let is_setting = |line: &&str| line.starts_with("# [") || line.contains(" = ");
    let uncommented: Vec<&str> = sample.lines().filter(is_setting).map(|line| &line[2..]).collect();
    let layers = Layers::new(Some(&uncommented.join("\n")));
    let configuration = layers.resolve().unwrap();
    assert!(configuration.origin(Name::S3Region).to_string().contains("skein.toml"));
    let of_files = SETTINGS.iter().filter(|setting| setting.given_in == SettingSource::Anywhere);
    assert_eq!(uncommented.iter().filter(|line| line.contains('=')).count(), of_files.count());
}

#[test]
fn variables_that_are_no_settings_are_named_unless_kubernetes_sets_them() {
    let set = [
        "SKEIN_LISTEN",
        "SKEIN_LISTENS",
        "SKEIN_SERVICE_HOST",
        "SKEIN_SERVICE_PORT_HTTP",
        "SKEIN_PORT",
        "SKEIN_PORT_7420_TCP_ADDR",
        "SKEIN_DB_SERVICE_PORT",
        "SKEIN_TEST_POSTGRES",
        "PATH",
    ];
    let environment: Environment = set.into_iter().map(|name| (name.into(), "x".into())).collect();
    assert_eq!(environment.unknown().collect::<Vec<_>>(), ["SKEIN_LISTENS"]);
}
