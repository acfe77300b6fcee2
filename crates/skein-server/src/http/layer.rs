//! A layer around routes that is one async method.
//!
//! Lighter than axum's `from_fn`, which takes every request apart and puts what follows into another box: both add up,
//! because all requests pass two layers.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use axum::routing::Route;
use tower::{Layer, Service};

/// What stands before routes: it answers by itself, or lets them.
pub(crate) trait Intercept: Send + Sync + 'static {
    fn pass(&self, request: Request, next: Next) -> impl Future<Output = Response> + Send;
}

/// The route behind.
pub(crate) struct Next(Arc<Route>);

impl Next {
    pub(crate) async fn run(self, request: Request) -> Response {
        let Ok(response) = Route::clone(&self.0).call(request).await;
        response
    }
}

/// Puts something before each route.
pub(crate) struct InterceptLayer<B>(Arc<B>);

impl<B> InterceptLayer<B> {
    pub(crate) fn new(before: B) -> Self {
        Self(Arc::new(before))
    }
}

impl<B> Clone for InterceptLayer<B> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: Intercept> Layer<Route> for InterceptLayer<B> {
    type Service = InterceptService<B>;

    fn layer(&self, route: Route) -> InterceptService<B> {
        InterceptService { before: Arc::clone(&self.0), route: Arc::new(route) }
    }
}

/// A route with something before it. The router makes a copy of it for every request.
pub(crate) struct InterceptService<B> {
    before: Arc<B>,
    route: Arc<Route>,
}

impl<B> Clone for InterceptService<B> {
    fn clone(&self) -> Self {
        Self { before: Arc::clone(&self.before), route: Arc::clone(&self.route) }
    }
}

impl<B: Intercept> Service<Request> for InterceptService<B> {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { before, route } = self.clone();
        Box::pin(async move { Ok(before.pass(request, Next(route)).await) })
    }
}
