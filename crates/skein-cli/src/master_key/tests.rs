//! A key file is made once, whole and private; one that others can read or that holds no keys is refused.

use std::fs::Permissions;

use super::*;

const ONE: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const OTHER: &str = "_-8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn source(folder: &tempfile::TempDir) -> (KeySource, PathBuf) {
    let path = folder.path().join(FILE);
    (KeySource::File(path.clone()), path)
}

fn private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY)).unwrap();
}

#[test]
fn a_missing_file_is_made_for_its_owner_alone_and_never_again() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    assert_eq!(source.read().unwrap_err().exit, Exit::Failed);
    let made = source.ensure().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, OWNER_ONLY);
    assert!(made.all().len() == 1 && made.all()[0] != [0; KEY_BYTES]);
    make(&path).unwrap();
    assert_eq!(source.ensure().unwrap().all(), made.all());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_link_to_the_file_stays_while_the_keys_change() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (source, link) = source(&folder);
    let kept = elsewhere.path().join("kept.key");
    private(&kept, ONE);
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    source.add().unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), kept);
    assert_eq!(read(&kept).unwrap().all().len(), 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no key is left beside the link");
}

#[test]
fn the_current_key_comes_first_and_comments_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    private(&path, &format!("# two keys\n\n{OTHER} # since May\n  {ONE}\n"));
    let keys = source.ensure().unwrap();
    assert_eq!(keys.all()[0][..3], [0xff, 0xef, 0]);
    assert_eq!(keys.all()[1], [0; KEY_BYTES]);
    assert_eq!(format!("{keys:?}"), "2 master keys");
}

#[test]
fn a_key_of_another_program_is_taken_in_its_spelling() {
    let standard = format!("{}=", OTHER.replace('_', "/").replace('-', "+"));
    assert_eq!(parse(&standard).unwrap().all(), parse(OTHER).unwrap().all());
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    for mode in [0o640, 0o604, 0o620] {
        private(&path, ONE);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let refused = source.ensure().unwrap_err();
        assert!(refused.error().contains(&format!("mode {mode:03o}")), "{refused}");
        assert!(refused.hint().contains("chmod 600"), "{refused}");
    }
}

#[test]
fn what_is_no_key_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    for text in ["", "# nothing\n", "c2hvcnQ", &format!("{ONE}\nsomething else"), &ONE[1..]] {
        private(&path, text);
        let refused = source.ensure().unwrap_err();
        assert_eq!(refused.exit, Exit::Usage, "{text:?}");
        assert!(text.is_empty() || !refused.to_string().contains(text), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it was");
    }
}

fn resolve(variables: &[(&str, &str)]) -> Result<KeySource, Failure> {
    let environment = variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let configuration = Configuration::resolve(None, crate::configuration::SettingsLayer::new(), &environment)?;
    KeySource::resolve(&configuration, Path::new("/d"))
}

#[test]
fn the_environment_stands_in_place_of_the_file() {
    assert!(matches!(resolve(&[]), Ok(KeySource::File(path)) if path == Path::new("/d/master.key")));
    let named = resolve(&[("SKEIN_VAULT_KEY_FILE", "/k")]);
    assert!(matches!(named, Ok(KeySource::File(path)) if path == Path::new("/k")));
    let both = resolve(&[("SKEIN_VAULT_KEY", OTHER), ("SKEIN_VAULT_OLDER_KEYS", ONE)]).unwrap();
    assert_eq!(both.ensure().unwrap().all().len(), 2);
    assert!(!format!("{both:?}").contains(OTHER));
    for wrong in [&[("SKEIN_VAULT_KEY", "x")][..], &[("SKEIN_VAULT_OLDER_KEYS", ONE)]] {
        assert_eq!(resolve(wrong).unwrap_err().exit, Exit::Usage);
    }
}

#[test]
fn a_fresh_key_goes_last_until_it_is_put_first_and_older_ones_stay_until_they_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    let first = id(&source.ensure().unwrap().all()[0]);
    let ids = || source.read().unwrap().all().iter().map(id).collect::<Vec<_>>();
    let second = source.add().unwrap();
    assert_eq!(ids(), [first.clone(), second.clone()]);
    source.put_first(&second).unwrap();
    assert_eq!(ids(), [second.clone(), first.clone()]);
    let third = source.add().unwrap();
    source.put_first(&third).unwrap();
    source.remove(&[first, third.clone()]).unwrap();
    assert_eq!(ids(), [third, second], "the first key is never removed");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, OWNER_ONLY);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_key_that_is_not_in_the_file_is_not_put_first() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    source.ensure().unwrap();
    let gone = id(&parse_key(OTHER).unwrap());
    let before = fs::read(&path).unwrap();
    let refused = source.put_first(&gone).unwrap_err();
    assert!(refused.contains(gone.as_str()), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_too_large_is_refused_and_never_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    let most = (FILE_BYTES_MAX - HEADING.len()) / LINE_BYTES;
    let keys: Vec<[u8; KEY_BYTES]> = (0..most).map(|_| *draw()).collect();
    write_durably(&path, &keys).unwrap();
    assert_eq!(source.read().unwrap().all().len(), most);
    let refused = source.add().unwrap_err();
    assert!(refused.contains("more than"), "{refused}");
    assert_eq!(source.read().unwrap().all(), keys, "it is left as it was");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    // A person may have made it larger.
    private(&path, &format!("{HEADING}{}", format!("{ONE}\n").repeat(most + 1)));
    assert_eq!(source.read().unwrap_err().exit, Exit::Usage);
}

#[test]
fn keys_of_the_environment_are_never_changed() {
    let fixed = resolve(&[("SKEIN_VAULT_KEY", ONE), ("SKEIN_VAULT_OLDER_KEYS", OTHER)]).unwrap();
    let before = fixed.read().unwrap();
    assert_eq!(fixed.add().unwrap(), id(&before.all()[0]));
    fixed.remove(&[id(&before.all()[1])]).unwrap();
    assert_eq!(fixed.remove_checked(&[id(&before.all()[1])], || Ok(())).unwrap_err().exit, Exit::Usage);
    assert_eq!(fixed.read().unwrap().all(), before.all());
}

#[test]
fn keys_that_many_add_at_once_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = source(&folder);
    let made: Vec<_> = std::thread::scope(|scope| {
        let made: Vec<_> = (0..8).map(|_| scope.spawn(|| source.ensure().unwrap().all()[0])).collect();
        made.into_iter().map(|made| made.join().unwrap()).collect()
    });
    assert!(made.iter().all(|key| *key == made[0]), "only one of them made the file");
    let added: Vec<_> = std::thread::scope(|scope| {
        let adding: Vec<_> = (0..16).map(|_| scope.spawn(|| source.add().unwrap())).collect();
        adding.into_iter().map(|adding| adding.join().unwrap()).collect()
    });
    let kept: Vec<_> = read(&path).unwrap().all().iter().map(id).collect();
    assert_eq!(kept.len(), 17);
    assert!(added.iter().all(|key| kept.contains(key)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}
