//! Caches rows for the only writing thread, because no one else can have changed them.
//!
//! An answer about the catalog stands for the functions that share a transaction, until one of them writes anything but
//! what a run leaves behind. A run stands until it is moved again, across transactions; any other change takes it
//! from here first. Both are gone when work is undone or another connection wrote. In debug builds all that is given from
//! here is compared with what the database says, so every test asks whether that is true.

use std::collections::HashMap;

use skein_core::ExecutionId;

use crate::db::query_cache::QueryCache;
use crate::flow::ExecutionPrefetch;

/// Bytes that runs may take together; when they would take more, all are let go.
const RUNS_BYTES_MAX: usize = 8 << 20;
/// What the catalog is kept in.
const CATALOG_TABLES: [&str; 4] = ["records", "record_references", "health", "vault"];

#[derive(Default)]
pub(crate) struct WriterCache {
    runs: HashMap<ExecutionId, ExecutionPrefetch>,
    runs_bytes: usize,
    pub(crate) answers: QueryCache,
}

impl WriterCache {
    pub(crate) fn take_run(&mut self, run: ExecutionId) -> Option<ExecutionPrefetch> {
        let run = self.runs.remove(&run)?;
        self.runs_bytes -= run.weight;
        Some(run)
    }

    pub(crate) fn keep_run(&mut self, run: ExecutionPrefetch) {
        self.take_run(run.id);
        if self.runs_bytes + run.weight > RUNS_BYTES_MAX {
            self.forget_runs();
        }
        self.runs_bytes += run.weight;
        self.runs.insert(run.id, run);
    }

    /// Something was written, to a table that is named where that is known.
    pub(crate) fn written(&mut self, table: Option<&str>) {
        if table.is_none_or(|table| CATALOG_TABLES.contains(&table)) {
            self.answers.forget();
        }
    }

    /// The functions that shared a transaction are done; what they were told of the catalog is not to lie about.
    pub(crate) fn committed(&mut self) {
        self.answers.forget();
    }

    /// Work was undone, or somebody else wrote.
    pub(crate) fn let_go(&mut self) {
        self.answers.forget();
        self.forget_runs();
    }

    fn forget_runs(&mut self) {
        self.runs.clear();
        self.runs_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::query_cache::QueryKey;

    #[test]
    fn a_cached_result_holds_until_the_catalog_may_have_changed_or_the_transaction_ends() {
        let ends: [fn(&mut WriterCache); 4] = [
            WriterCache::committed,
            WriterCache::let_go,
            |kept| kept.written(None),
            |kept| kept.written(Some("vault")),
        ];
        for end in ends {
            let mut kept = WriterCache::default();
            kept.answers.keep(QueryKey::new("a", &[]), Vec::new());
            kept.written(Some("execution_steps"));
            assert!(kept.answers.to(&QueryKey::new("a", &[])).is_some());
            end(&mut kept);
            assert!(kept.answers.to(&QueryKey::new("a", &[])).is_none());
        }
    }
}
