//! Stores the reviews of waiting executions. The first decision counts: the row settles a race, the items record it.

use skein_core::flow::delegation::Delegation;
use skein_core::flow::execution::input::CallSite;
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::{ExecutionId, Millis, ReviewId, UserId, Viewer};

use crate::db::sql::{Row, params};
use crate::error::{SqlError, StoreError};
use crate::flow::executions::{from_text, index, to_text, whole};
use crate::timeline::items::{Page, page};
use crate::tx::{Tx, system_only};

const REVIEWS_PER_PAGE_MAX: usize = 1_000;
const COLUMNS: &str =
    "id, owner, run, step, call, status, asked, decision, created_at, expires_at, ended_at, delegate, decided_by";

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewStatus {
    Open,
    Decided,
    Expired,
    /// The run ended before anybody decided.
    Withdrawn,
}

impl ReviewStatus {
    const ALL: [Self; 4] = [Self::Open, Self::Decided, Self::Expired, Self::Withdrawn];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Decided => "decided",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A question that is about to be asked.
#[derive(Debug, Clone)]
pub struct NewReview<'a> {
    pub id: ReviewId,
    pub owner: UserId,
    pub run: ExecutionId,
    pub place: CallSite,
    pub asked: &'a ReviewRequest,
    pub expires_at: Option<Millis>,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewRow {
    pub id: ReviewId,
    pub owner: UserId,
    pub run: ExecutionId,
    pub place: CallSite,
    pub status: ReviewStatus,
    pub asked: ReviewRequest,
    pub decision: Option<Decision>,
    pub created_at: Millis,
    pub expires_at: Option<Millis>,
    pub ended_at: Option<Millis>,
    /// Whom its owner asked to decide in their place.
    pub delegate: Option<UserId>,
    pub decided_by: Option<UserId>,
}

impl ReviewRow {
    pub fn delegation(&self) -> Delegation {
        let Self { owner, delegate, decided_by, .. } = *self;
        Delegation { owner, delegate, decided_by, is_open: self.status == ReviewStatus::Open }
    }
}

/// A question whose time is over: enough of it to end it, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueReview {
    pub id: ReviewId,
    pub run: ExecutionId,
    pub place: CallSite,
    pub expired_at: Millis,
}

impl Tx<'_> {
    pub fn insert_review(&mut self, new: &NewReview<'_>) -> Result<(), StoreError> {
        let (now, asked) = (self.now(), to_text(new.asked));
        self.execute(
            "INSERT INTO reviews (id, owner, run, step, call, status, asked, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'open', ?6, ?7, ?8)",
            params![
                &new.id,
                &new.owner,
                &new.run,
                whole(new.place.step),
                new.place.call.map(whole),
                &asked,
                now,
                new.expires_at
            ],
        )?;
        Ok(())
    }

    /// Ends a question by a decision; false when it had ended before.
    pub fn decide_review(&mut self, id: ReviewId, decider: UserId, decision: &Decision) -> Result<bool, StoreError> {
        let (now, decision) = (self.now(), to_text(decision));
        let sql = "UPDATE reviews SET status = 'decided', decision = ?2, decided_by = ?3, ended_at = ?4
             WHERE id = ?1 AND status = 'open'";
        Ok(self.execute(sql, params![&id, &decision, &decider, now])? == 1)
    }

    /// Ends a question that nobody decided in time; false when it had ended before.
    pub fn expire_review(&mut self, id: ReviewId) -> Result<bool, StoreError> {
        let now = self.now();
        let sql = "UPDATE reviews SET status = 'expired', ended_at = ?2 WHERE id = ?1 AND status = 'open'";
        Ok(self.execute(sql, params![&id, now])? == 1)
    }

    /// Puts a question into somebody's hands, or back into its owner's alone; false when it has ended.
    pub fn delegate_review(&mut self, id: ReviewId, delegate: Option<UserId>) -> Result<bool, StoreError> {
        let sql = "UPDATE reviews SET delegate = ?2 WHERE id = ?1 AND status = 'open'";
        Ok(self.execute(sql, params![&id, delegate.as_ref()])? == 1)
    }

    /// The open questions of a run that are in others' hands.
    pub fn delegated_of(&mut self, run: ExecutionId) -> Result<Vec<(ReviewId, UserId)>, StoreError> {
        let sql = "SELECT id, delegate FROM reviews WHERE run = ?1 AND status = 'open' AND delegate IS NOT NULL";
        self.all(sql, params![&run], |row| Ok((ReviewId::from_bytes(row.array(0)?), UserId::from_bytes(row.array(1)?))))
    }

    /// Takes back what a run asked and nobody decided.
    pub fn withdraw_reviews(&mut self, run: ExecutionId) -> Result<(), StoreError> {
        let now = self.now();
        let sql = "UPDATE reviews SET status = 'withdrawn', ended_at = ?2 WHERE run = ?1 AND status = 'open'";
        self.execute(sql, params![&run, now])?;
        Ok(())
    }

    pub fn review(&mut self, viewer: &Viewer, id: ReviewId) -> Result<ReviewRow, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM reviews WHERE id = ?1");
        let found = self.first(&sql, params![&id], read_review)?;
        let found = found.filter(|row| row.delegation().may_see(viewer, self.now()));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// The viewer's questions and those that are in their hands, oldest first: what is still open, or all.
    pub fn reviews(
        &mut self,
        viewer: &Viewer,
        only_open: bool,
        after: Option<ReviewId>,
        limit: usize,
    ) -> Result<Page<ReviewRow, ReviewId>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = limit.clamp(1, REVIEWS_PER_PAGE_MAX);
        let after = after.unwrap_or(ReviewId::from_bytes([0; 16]));
        let open = if only_open { "AND status = 'open'" } else { "" };
        let sql = format!("SELECT {COLUMNS} FROM reviews WHERE owner = ?1 AND id > ?2 {open} ORDER BY id LIMIT ?3");
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let mut rows = self.all(&sql, params![&owner, &after, one_more], read_review)?;
        if let Viewer::User(user) = viewer {
            let theirs = if only_open { open } else { "AND (status = 'open' OR decided_by = ?1)" };
            let sql =
                format!("SELECT {COLUMNS} FROM reviews WHERE delegate = ?1 AND id > ?2 {theirs} ORDER BY id LIMIT ?3");
            rows.extend(self.all(&sql, params![user, &after, one_more], read_review)?);
            rows.sort_by_key(|row| row.id);
            rows.truncate(limit + 1);
        }
        Ok(page(rows, limit, |last| last.id))
    }

    /// Everything a run asked.
    pub fn reviews_of(&mut self, run: ExecutionId) -> Result<Vec<ReviewRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM reviews WHERE run = ?1 ORDER BY id");
        self.all(&sql, params![&run], read_review)
    }

    /// Some questions whose time is over, those that wait longest first; after one, if it is given.
    pub fn due_reviews(
        &mut self,
        viewer: &Viewer,
        after: Option<&DueReview>,
        limit: i64,
    ) -> Result<Vec<DueReview>, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let (at, id) = after.map_or((Millis(i64::MIN), ReviewId::from_bytes([0; 16])), |due| (due.expired_at, due.id));
        let sql = "SELECT id, run, step, call, expires_at FROM reviews
             WHERE status = 'open' AND expires_at <= ?1 AND expires_at >= ?2 AND (expires_at > ?2 OR id > ?3)
             ORDER BY expires_at, id LIMIT ?4";
        self.all(sql, params![now, at, &id, limit], read_due)
    }
}

fn read_due(row: &dyn Row) -> Result<DueReview, SqlError> {
    Ok(DueReview {
        id: ReviewId::from_bytes(row.array(0)?),
        run: ExecutionId::from_bytes(row.array(1)?),
        place: CallSite { step: index(row.int(2)?)?, call: row.optional_int(3)?.map(index).transpose()? },
        expired_at: Millis(row.int(4)?),
    })
}

fn read_review(row: &dyn Row) -> Result<ReviewRow, SqlError> {
    let status = row.text(5)?;
    Ok(ReviewRow {
        id: ReviewId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        run: ExecutionId::from_bytes(row.array(2)?),
        place: CallSite { step: index(row.int(3)?)?, call: row.optional_int(4)?.map(index).transpose()? },
        status: ReviewStatus::parse(status).ok_or_else(|| SqlError::Damaged(format!("no status: {status}")))?,
        asked: from_text(row.text(6)?)?,
        decision: row.optional_text(7)?.map(from_text).transpose()?,
        created_at: Millis(row.int(8)?),
        expires_at: row.optional_int(9)?.map(Millis),
        ended_at: row.optional_int(10)?.map(Millis),
        delegate: row.optional_array(11)?.map(UserId::from_bytes),
        decided_by: row.optional_array(12)?.map(UserId::from_bytes),
    })
}
