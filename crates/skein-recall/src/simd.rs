//! Doing much at once: two things at the same time, and loops over many numbers by processors that take thirty-two bytes in a
//! step.

/// Both; the second on a thread of its own, if there can be one more.
pub(crate) fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    std::thread::scope(|scope| {
        let Ok(thread) = std::thread::Builder::new().spawn_scoped(scope, &second) else { return (first(), second()) };
        let first = first();
        (first, thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Makes `$name` call `$any` compiled for AVX2 where the processor has it.
macro_rules! widened {
    ($(#[$doc:meta])* $name:ident, $any:ident, ($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,popcnt")]
                fn wide($($argument: $type),*) $(-> $result)? {
                    $any($($argument),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    #[expect(unsafe_code, reason = "the features it is compiled for were just found on this processor")]
                    return unsafe { wide($($argument),*) };
                }
            }
            $any($($argument),*)
        }
    };
}
pub(crate) use widened;

widened!(
    /// The sum of the products of signed bytes.
    product, product_any, (a: &[u8], b: &[u8]) -> i32
);

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
fn product_any(a: &[u8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_length_are_those_of_single_numbers() {
        for length in [0_usize, 1, 7, 31, 32, 33, 256, 384, 1_000] {
            let bytes = |step: usize| (0..length).map(|place| (place * step).to_le_bytes()[0]).collect::<Vec<_>>();
            let (a, b) = (bytes(37), bytes(101));
            let mut sum = 0;
            for place in 0..length {
                sum += i32::from(a[place].cast_signed()) * i32::from(b[place].cast_signed());
            }
            assert_eq!(product(&a, &b), sum, "{length}");
        }
        assert_eq!(product(&[0x80; 4_096], &[0x80; 4_096]), 4_096 * 128 * 128);
    }
}
