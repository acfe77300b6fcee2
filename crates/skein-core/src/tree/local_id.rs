//! Temporary.
pub fn local_id<E>(bare: &str, mut is_taken: impl FnMut(&str) -> Result<bool, E>) -> Result<String, E> {
    for length in 6..=8 {
        if !is_taken(&bare[..length])? {
            return Ok(bare[..length].to_owned());
        }
    }
    for start in (0..=bare.len() - 8).rev() {
        if !is_taken(&bare[start..start + 8])? {
            return Ok(bare[start..start + 8].to_owned());
        }
    }
    Ok(bare[..8].to_owned())
}
