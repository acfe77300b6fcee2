// Made by `npm run types` from openapi/skein.json.

export interface paths {
    "/api/v1/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who am I? */
        get: operations["read_account"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/default-process": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process that answers in your new conversations. */
        get: operations["read_default_process"];
        /**
         * Choose the process that answers in your new conversations. The first process that answers through a connected
         *     model is chosen without this.
         */
        put: operations["change_default_process"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Sign this browser out. */
        delete: operations["end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The browsers that are signed in as you. */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Sign one of your browsers out, wherever it is. */
        delete: operations["end_session_elsewhere"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/account/sign-in-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a one-time link that signs you in at a browser within ten minutes. */
        post: operations["create_sign_in_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your actors, oldest first, archived ones too. */
        get: operations["list_actors"];
        put?: never;
        /** Describe somebody who can write. */
        post: operations["create_actor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/actors/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One actor. */
        get: operations["read_actor"];
        /** Change an actor; what it wrote keeps the author it had. */
        put: operations["change_actor"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allowed-endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is allowed. */
        get: operations["list_endpoints"];
        put?: never;
        /** Allow services to call an address on this machine. */
        post: operations["allow_endpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allowed-endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Refuse an address again. */
        delete: operations["refuse_endpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What you are not asked about. */
        get: operations["list_approvals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an approval: from the next call on, you are asked again. */
        delete: operations["revoke_approval"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload bytes and attach them; `Content-Type` names their media type, `application/octet-stream` where it is left out.
         * @description At most 100 MiB, within 10 minutes, with pauses of at most 30 seconds. One user may have 32 uploads under way (429 beyond), the
         *     server 128 (503 beyond).
         */
        post: operations["upload_blob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blobs/{hash}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download bytes you attached, whole or in part, as the media type they were uploaded with. */
        get: operations["download_blob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blobs/{hash}/thumbnail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A small picture of an image you attached: at most 200 pixels a side. */
        get: operations["draw_thumbnail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Compare two nodes word by word, or two paths by where they part. */
        post: operations["compare"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your conversations, the one last spoken in first; those where tools worked are not listed. */
        get: operations["list_conversations"];
        put?: never;
        /** Begin a conversation; nothing is said in it yet. */
        post: operations["create_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One conversation. */
        get: operations["read_conversation"];
        /** Change what a conversation is called, what models are told in it, its tags, or whether it is archived. */
        put: operations["change_conversation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A conversation as a document to read, all its branches or one path. */
        get: operations["export_conversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/fold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fold a conversation without open forks into a summary; from then on it takes nothing more. */
        post: operations["fold_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grow a new conversation from a node of this one; what was said before it is seen there too. */
        post: operations["fork_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/forks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The conversations that grew from this one, those where tools worked too, in the order they were made. */
        get: operations["list_forks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/nodes/{localId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A node by the short name it has in its conversation, in capitals or not. */
        get: operations["read_node_by_local_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/path": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The end of a path, from the root's side on, through the conversations it was forked from. */
        get: operations["read_path"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/project": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Put a conversation into another project of yours. */
        put: operations["move_conversation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/reopen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go on with a folded conversation in a new one, which sees all of it. */
        post: operations["reopen_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a conversation is about, in two sentences; made now if it was not yet. */
        get: operations["read_conversation_summary"];
        put?: never;
        /** Make the summary of a conversation anew. */
        post: operations["renew_conversation_summary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/tree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The whole tree without what it says, in columns: the n-th entry of each is about the n-th node, oldest first. */
        get: operations["read_tree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Append a turn: what is said, or answers of processes. Your path goes on there, unless `makeActive` is `false`. */
        post: operations["append_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns/{turnId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A turn with what was said there: what it shows first, then the newest, page by page. */
        get: operations["read_turn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns/{turnId}/alternatives": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say something else at a turn, or edit what was said there; what was said before stays. */
        post: operations["add_alternative"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Turn to an alternative and everything it descends from; names every turn that shows something else for it. */
        put: operations["activate_alternative"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns/{turnId}/alternatives/{nodeId}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an answer again, by the process that made this one; this one stays. */
        post: operations["regenerate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/turns/{turnId}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grow a new conversation from a turn of this one, at the alternative it shows unless one is named. */
        post: operations["fork_at_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/conversations/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a whole tree, or the path to one of its nodes, is what it was when it was written. */
        get: operations["verify_conversation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/deltas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What changed in your records since you last asked. */
        get: operations["list_deltas"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is remembered of you, the newest first. */
        get: operations["list_episodes"];
        put?: never;
        /**
         * Bring content from elsewhere: an item is made of it, and a moment later an episode of the same number.
         * @description The same content of the same speaker and node, said at the same time, is there once: bringing it again answers 200 with what
         *     is there. Content without a time is said now; within a day it is the same, later it was said again.
         */
        post: operations["import_episode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/episodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One thing that is remembered. */
        get: operations["read_episode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happens to your things, as it happens. */
        get: operations["watch_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your runs, newest first. */
        get: operations["list_executions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run with everything that belongs to it. */
        get: operations["read_execution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/branch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin again at any step of a run, with other values where you give them. */
        post: operations["branch_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run: nothing more is begun, and what is under way is broken off. */
        post: operations["cancel_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Pause a run with all that it started, or let it go on. While it is paused nothing more is called; what is under way ends, and
         *     people can still decide.
         */
        put: operations["pause_execution"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin again where a run failed or was cancelled; what its earlier steps gave is kept. */
        post: operations["resume_execution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a model says for a run, as it says it: `text`, `reset` when it begins anew, and `end`. */
        get: operations["stream_execution"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a cut of everything you own, or of one conversation; the values of your secrets only if you ask for them.
         * @description An export that `POST /imports` would refuse is refused (422 `bundle_too_large`): with attachments it could have more than
         *     131,072 entries or 8 GiB. Text counts uncompressed. Export single conversations then.
         */
        post: operations["create_export"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Download a cut as a bundle: a zip file with items, records, relations, blobs and what proves them. */
        get: operations["download_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How nodes were made: by which run, with how many tokens, at what cost, by which calls. */
        get: operations["list_generations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Grants on your things, and grants you hold; newest first. */
        get: operations["list_grants"];
        put?: never;
        /** Let yourself, an administrator, look at another user's things for a while; they see it at once. */
        post: operations["give_grant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a grant you hold, or one on your things. */
        delete: operations["end_grant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a bundle in; what is there already is skipped. Your own, or, for administrators, somebody's who moves in.
         * @description One import of an owner's things at a time on a database: while one has not ended, the answer is 409 `import_running` with
         *     its `operationId`. 409 `bundle_conflict` means that both sides changed a record: with nothing imported when it shows before
         *     the import begins, with a part imported when the owner changes the record meanwhile.
         *     An item that is new here obeys the rules of the request that makes such an item. A breach is 422 with the id of the
         *     rule, and nothing is imported.
         *     A bundle has at most 8 GiB (413), 131,072 entries and 32 MiB of directory (422 `bundle_too_large`). What has more is exported as
         *     single conversations.
         */
        post: operations["import_bundle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/index": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the index of this server stands, for administrators. */
        get: operations["read_index"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/index/rebuilds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Build the index of this server again from the timeline; how far that is says `GET /index`. */
        post: operations["rebuild_index"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/index/unindexable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was said or brought and can never be found, with the reason, for administrators; the oldest first. */
        get: operations["list_unbound"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your facts along either clock. */
        get: operations["list_items"];
        put?: never;
        /** State a fact, or a batch of facts that is kept whole or not at all. */
        post: operations["append_items"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One fact, also when it was undone or redacted. */
        get: operations["read_item"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}/canonical-time": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** State when a fact really happened. */
        put: operations["correct_time"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a fact says, byte for byte: canonical JSON of a document, and the only way to what is none, such as a large output of
         *     a tool.
         */
        get: operations["read_payload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}/proof": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** That an item is part of its owner's sealed history; can be checked without this server. */
        get: operations["prove_item"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Destroy the payload of a fact for good; with an attachment go its bytes. The history still verifies. SQLite's log lets go
         *     of it once nobody reads any more, PostgreSQL's pages at the next vacuum; backups and bundles made before keep it.
         * @description With a message go its raw response, summaries made in view of it, messages of tool runs that quote it, and inputs and outputs
         *     of executions that have its words. `quotedIn` lists messages, summaries and notes of people and models that have them, too.
         */
        post: operations["redact_item"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a fact back within five minutes; answers with the tombstone that supersedes it. */
        post: operations["undo_item"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your keys. */
        get: operations["list_keys"];
        put?: never;
        /** Make a key, which may do no more than the credential that asks for it, and not outlive it. */
        post: operations["create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a key for good. */
        delete: operations["revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The nodes of all your conversations by who said them, or that are bookmarked, or that have a tag; newest first. */
        get: operations["list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One node. */
        get: operations["read_node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Remarks about a node, oldest first. */
        get: operations["list_annotations"];
        put?: never;
        /** Remark on a node, beside the conversation's course. */
        post: operations["annotate_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/children": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What follows a node, oldest first. */
        get: operations["list_children"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a model would be shown at a node: every part with its tokens, and why it is left out if it is. */
        get: operations["show_context"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The edge into a node and those out of it, by the ids of what they lead into. */
        get: operations["list_edges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/edits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every edit that led to a node or away from it, oldest first, each with the words that changed. */
        get: operations["list_edits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/forks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The conversations that grew from a node, in the order they were made. */
        get: operations["list_forks_at_node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/marks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Bookmark, tag, prune or leave out a node, or take any of it back; what it says and its hash stay as they are. */
        put: operations["mark_node"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/provenance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where a node comes from: the chain that leads to it, with hashes, authors, raw responses and processes. */
        get: operations["trace_node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/siblings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What else follows the same node: one entry for each line of edits that are versions of each other. */
        get: operations["list_siblings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/similar": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What resembles a node, as seen from there. */
        get: operations["similar_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/subtree": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A node and what follows it on every branch, some turns deep, oldest first: so what is answered comes before its answers. */
        get: operations["list_subtree"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a node says, in one sentence; made now if it was not yet. */
        get: operations["read_node_summary"];
        put?: never;
        /** Make the summary of a node anew. */
        post: operations["renew_node_summary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether a node is what it was when it was written. */
        get: operations["verify_node"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your operations, newest first. */
        get: operations["list_operations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far is it? */
        get: operations["read_operation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel an operation that has not ended. */
        post: operations["cancel_operation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your processes. */
        get: operations["list_processes"];
        put?: never;
        /** Define how work is done. */
        post: operations["create_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask what keeps a definition from being kept; nothing is kept. Every rule it breaks is named. */
        post: operations["validate_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One process, as it is or as it was in a version. */
        get: operations["read_process"];
        /** Change what is named; what runs goes on as it was when it began. */
        put: operations["change_process"];
        post?: never;
        /** Put a process away that no conversation offers, no process calls and no run is of. It can still be read. */
        delete: operations["delete_process"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a process; poll the operation, or listen to the run's stream. */
        post: operations["execute_process"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How a process would fare now: every tool, service, secret and process it depends on. Nothing is called. */
        get: operations["check_process"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your projects, oldest first; everybody starts with one, the default. */
        get: operations["list_projects"];
        put?: never;
        /** Begin a project. */
        post: operations["create_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One project. */
        get: operations["read_project"];
        /** Change what a project is called and said to be. */
        put: operations["change_project"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/frames": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where everybody who takes part in a project is. */
        get: operations["list_frames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/frames/{actorId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Turn yourself, or an actor of yours, to a conversation of a project. */
        put: operations["turn_frame"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{id}/stack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every branch of a project in the order they were made: main ones, forks, tool runs, folded ones. */
        get: operations["list_stack"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much of yours waits for a worker. */
        get: operations["read_queue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queue/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Work that nobody could do, the oldest first: yours, and everybody's for administrators. */
        get: operations["list_dead_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your records of one type. */
        get: operations["list_records"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/records/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A record as it is, or as it was in a version or at a moment. */
        get: operations["read_record"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/records/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What two versions of a record disagree about. */
        get: operations["diff_record"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/records/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions of a record, oldest first. */
        get: operations["list_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/records/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take an earlier state of an entry of the catalogue up again, as a new version: a deletion undone, a change taken back. It is
         *     judged as a change that says the same; the values of secrets do not come back.
         */
        post: operations["restore_record"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/relations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The relations that meet at a thing, of one kind or all. */
        get: operations["list_relations"];
        put?: never;
        /** Relate two things. */
        post: operations["create_relation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/relations/chain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything reached along one kind of relation. */
        get: operations["follow_chain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/relations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One relation. */
        get: operations["read_relation"];
        /** Change confidence and metadata, where the kind allows it. */
        put: operations["edit_relation"];
        post?: never;
        /** Remove a relation, where the kind allows it; that it was there stays on the timeline. */
        delete: operations["remove_relation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reviews": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What you are asked, and what others ask you to decide in their place, oldest first. */
        get: operations["list_reviews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reviews/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One question. */
        get: operations["read_review"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reviews/{id}/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide; the first decision counts, and the run goes on at once. */
        post: operations["decide_review"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reviews/{id}/delegate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Ask another user to decide in your place, or take that back. They see this question and nothing else of the run, may approve
         *     it once, for the run or for the same arguments, answer or deny it; you may decide all the same, and the first decision counts.
         */
        put: operations["delegate_review"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search what was said: on the path you stand on, and on the main paths of your other conversations; on all branches where
         *     that is asked for.
         * @description By words, by meaning, by what was said beside it, and by who said it. What was cut off, excluded or destroyed is not
         *     found, nor what was said while tools worked. Every result says why it was found, and the answer what it covers.
         */
        post: operations["search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your secrets. */
        get: operations["list_secrets"];
        put?: never;
        /** Put a credential into the vault. */
        post: operations["create_secret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/secrets/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One secret, without its value. */
        get: operations["read_secret"];
        /** Replace the value, or change the name or description. */
        put: operations["change_secret"];
        post?: never;
        /** Delete a secret that no tool uses; its value is destroyed. */
        delete: operations["delete_secret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/secrets/{id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set the flag; it has no effect, a secret is its owner's alone. */
        put: operations["share_secret"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/service-templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your templates of services and those that others share. */
        get: operations["list_service_templates"];
        put?: never;
        /** Make a template of services; it cannot be altered afterwards. */
        post: operations["create_service_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/service-templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One template of services, archived or not. */
        get: operations["read_service_template"];
        /** Share, archive or restore a template of services. */
        put: operations["change_service_template"];
        post?: never;
        /** Archive a template of services; what was made from it stays as it is. */
        delete: operations["archive_service_template"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/service-templates/{id}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The services made from a template, your own and shared ones. */
        get: operations["list_template_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your services and those that others share. */
        get: operations["list_services"];
        put?: never;
        /** Describe an endpoint, in full or by a template. */
        post: operations["create_service"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One service. */
        get: operations["read_service"];
        /** Change name, description, connectionSchema or enabled. */
        put: operations["change_service"];
        post?: never;
        /** Delete a service that no tool stands on. */
        delete: operations["delete_service"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{id}/discover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a tool for each operation of an OpenAPI document. */
        post: operations["discover_tools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a service whether it is there, now. */
        post: operations["check_service"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/services/{id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Share a service or take it back; taking back is never refused, and says who loses by it. */
        put: operations["share_service"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every setting, with its limits. */
        get: operations["list_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One setting. */
        get: operations["read_setting"];
        /** Change a setting. */
        put: operations["change_setting"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How much room the database and the blobs take, for administrators. */
        get: operations["read_storage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your tags, with how many nodes have each. */
        get: operations["list_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your templates of tools and those that others share. */
        get: operations["list_tool_templates"];
        put?: never;
        /** Make a template of tools; it cannot be altered afterwards. */
        post: operations["create_tool_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One template of tools, archived or not. */
        get: operations["read_tool_template"];
        /** Share, archive or restore a template of tools. */
        put: operations["change_tool_template"];
        post?: never;
        /** Archive a template of tools; what was made from it stays as it is. */
        delete: operations["archive_tool_template"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-templates/{id}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tools made from a template, your own and shared ones. */
        get: operations["list_template_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your tools and those that others share. */
        get: operations["list_tools"];
        put?: never;
        /** Define an operation on a service, in full or by a template. */
        post: operations["create_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How tools did in your own runs lately: calls, success, how long they took, and what went wrong last. */
        get: operations["list_tool_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One tool. */
        get: operations["read_tool"];
        /** Change anything but the service. */
        put: operations["change_tool"];
        post?: never;
        /** Delete a tool that no process uses. */
        delete: operations["delete_tool"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{id}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Use a secret of your own with a tool that somebody else shares. */
        put: operations["bind_secret"];
        post?: never;
        /** Go back to the owner's secret. */
        delete: operations["unbind_secret"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{id}/share": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Share a tool or take it back. Others call a shared tool with your secret, at your expense. They see its whole output: share tools
         *     whose `result` names the part to give. Without one, the output of a REST tool is the response body, in which known forms of the
         *     secret are replaced.
         */
        put: operations["share_tool"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool for real; the operation tells what went out, what came back and how long it took. */
        post: operations["test_tool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every user, in the order they were made. */
        get: operations["list_users"];
        put?: never;
        /** Make a user, and a link for them to sign in with. */
        post: operations["create_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One user; anybody may ask for themselves. */
        get: operations["read_user"];
        /** Change a user's name or role; the last administrator stays one. */
        put: operations["change_user"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}/sign-in-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a one-time link for a user who cannot get in; with the key of a start only, so from the server's own machine. */
        post: operations["create_link_for_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vault": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the values of secrets are kept. */
        get: operations["read_vault"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vault/rotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a new master key and bring every value under it, while calls go on.
         * @description One rotation at a time on a database: while one has not ended, the answer is 409 `rotation_running` with its
         *     `operationId`. Every key before is kept. The operation fails with `vault_values_unreadable` when values do not open, and
         *     says how to restore them.
         */
        post: operations["rotate_vault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Prove that nothing in the store was altered; the operation's result is the report. */
        post: operations["request_verification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every worker that was heard of lately. */
        get: operations["list_workers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The answer to work that is on disk and will be done. */
        Accepted: {
            /** @description In words. */
            message: string;
            /**
             * @description What to poll.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
            /**
             * @description Where to poll it.
             * @example /api/v1/operations/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            statusUrl: string;
        };
        /** @description Who asks, and by what they were let in. */
        AccountView: {
            /**
             * @description key, start, session or token.
             * @example key
             */
            credential: string;
            /**
             * @description Where the timeline stands: what is read afterwards is no older. Whoever watches events from here misses nothing.
             * @example 0.42
             */
            cursor: string;
            /** @description The grant that was named in `Skein-Grant`. */
            grantId: string | null;
            /** @description The key, where one was shown. */
            keyId: string | null;
            /**
             * @description What this credential may be used for: read, write or admin.
             * @example admin
             */
            scope: string;
            user: components["schemas"]["UserView"];
        };
        /** @description What a turn shows now, and every turn that is affected. */
        ActivatedView: {
            affectedTurns: components["schemas"]["AffectedTurnView"][];
            alternativeId: string;
            turnId: string | null;
        };
        /**
         * @example {
         *       "configuration": {
         *         "systemPrompt": "Be brief.",
         *         "temperature": 0.7
         *       },
         *       "modelRef": "local:01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
         *       "name": "Hugin",
         *       "type": "model"
         *     }
         */
        ActorBody: {
            configuration?: components["schemas"]["ConfigurationFields"] | null;
            /** @description Needed for a model, and for nobody else. */
            modelRef?: string | null;
            name: string;
            permissions?: components["schemas"]["PermissionFields"] | null;
            /** @description human, model or system; never changes. */
            type: string;
        };
        /**
         * @example {
         *       "archived": true,
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         *     }
         */
        ActorChangeBody: {
            archived?: boolean | null;
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            configuration?: components["schemas"]["ConfigurationFields"] | null;
            modelRef?: string | null;
            name?: string | null;
            permissions?: components["schemas"]["PermissionFields"] | null;
        };
        ActorFields: {
            archived: boolean;
            configuration: components["schemas"]["ConfigurationFields"];
            /**
             * @description Which model it speaks for: `provider:identifier`, or `local:` and an id.
             * @example local:01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            modelRef?: string;
            /** @example Hugin */
            name: string;
            permissions: components["schemas"]["PermissionFields"];
            /**
             * @description The process a `system` actor writes for: Skein makes it when an answer of that process is not exactly one model's
             *     output.
             * @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            processId?: string;
            /**
             * @description Which model it answers as: Skein records it when the actor answers for the first time. From then on a new name of the
             *     service changes no author, and `modelRef` stays.
             */
            serviceModel?: components["schemas"]["ServiceModelFields"];
            /**
             * @description human, model or system.
             * @example model
             */
            type: string;
        };
        /** @description Somebody who can write. */
        ActorView: components["schemas"]["EntryHead"] & components["schemas"]["ActorFields"];
        /** @description A turn that shows another alternative now, or follows one that does. */
        AffectedTurnView: {
            turnId: string;
            updatedAlternatives: components["schemas"]["StandingView"][];
        };
        /**
         * @description Something else that could be said at a turn: another wording, or an edit of one that is there.
         * @example {
         *       "makeActive": true,
         *       "text": "How many grey herons?"
         *     }
         */
        AlternativeBody: {
            content?: {
                [key: string]: unknown;
            } | null;
            /** @description The alternative it is an edit of; it answers what that one answers. */
            editedFrom?: string | null;
            /** @description Two to eight answers of which the processes are to make one; it is `derived_from` them. */
            fuses?: string[];
            /** @description What the processes are given besides the conversation. */
            initialContext?: {
                [key: string]: unknown;
            };
            /** @description An answer that broke off: its words are kept as an alternative, while they can still be heard. */
            keptFrom?: string | null;
            /**
             * @description Whether the turn shows it from now on.
             * @default false
             */
            makeActive?: boolean;
            /** @description The node of the turn before that it answers; what that turn shows, unless one is named. */
            parentAlternativeId?: string | null;
            /** @description The process that is to answer. */
            processId?: string | null;
            /** @description Several processes that are to answer, each in an alternative of its own. */
            processIds?: string[];
            /** @description How many answers each of them gives, 1 to 16 in all. */
            samples?: number | null;
            /** @description Short for content of type text. */
            text?: string | null;
        };
        /**
         * @description A remark about a node.
         * @example {
         *       "text": "Counted twice."
         *     }
         */
        AnnotationBody: {
            content?: {
                [key: string]: unknown;
            } | null;
            /** @description Short for content of type text. */
            text?: string | null;
        };
        /** @description An answer that is being made: a kept place, and the run that fills it. */
        AnswerView: components["schemas"]["GrownView"] & {
            /**
             * @description Its words can be heard at `/executions/{id}/stream`.
             * @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            executionId: string;
        };
        /** @description Answers that are being made. */
        AnsweringView: {
            answers: components["schemas"]["AnswerView"][];
            /** @description Why a built-in model answers in place of your default process; absent otherwise. */
            fallback?: string;
        };
        /** @description What only one path has. */
        ApartView: {
            /** @description How many nodes that are. */
            count: number;
            /** @description The first of them, at most 1000. */
            nodes: components["schemas"]["BriefView"][];
        };
        /** @description What stating facts is answered with, for readers of the API document. */
        AppendAnswer: components["schemas"]["Mutated_ItemView"] | components["schemas"]["Mutated_BatchView"];
        /**
         * @description A fact, or many that are kept whole or not at all.
         * @example {
         *       "_type": "Note",
         *       "data": {
         *         "description": "The heron came back today."
         *       }
         *     }
         */
        AppendBody: components["schemas"]["NewItemBody"] | components["schemas"]["BatchBody"];
        /** @description Calls of a tool that you are not asked about. */
        ApprovalView: {
            /**
             * Format: int32
             * @description The version of what the tool does that was approved; once that changes, you are asked again.
             */
            definitionVersion: number;
            /** @example 2026-11-15T09:30:00.000Z */
            givenAt: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description The question it was given with. */
            reviewId: string;
            toolId: string;
        };
        AskFields: {
            prompt: string;
            /** @description A JSON Schema of the answer; anything unless it is said. */
            schema?: unknown;
        };
        BatchBody: {
            items: components["schemas"]["NewItemBody"][];
        };
        /**
         * @example {
         *       "secretId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        BindBody: {
            /** @description A secret of yours. */
            secretId: string;
        };
        /** @description One's own secret for somebody else's tool. */
        BindingView: components["schemas"]["EntryHead"] & {
            /**
             * Format: int32
             * @description What the tool did when the secret was bound; once its owner changes that, bind again.
             * @example 1
             */
            definitionVersion: number;
            secretId: string;
            toolId: string;
        };
        /** @description The objects beside the database, those that nobody names any more included. */
        BlobAmountView: {
            /**
             * Format: int64
             * @example 3000000
             */
            bytes: number;
            /**
             * @description When they were counted; they are again when they are asked for ten minutes later.
             * @example 2026-11-15T09:30:00.000Z
             */
            countedAt: string;
            /**
             * Format: int64
             * @example 12
             */
            objects: number;
        };
        /** @description Bytes that were uploaded and attached. */
        BlobView: {
            /**
             * @description SHA-256 of the bytes.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash: string;
            /** @description The fact that names them; redact it to destroy them. */
            itemId: string;
            /** @example image/png */
            mediaType: string;
            /**
             * Format: int64
             * @example 4
             */
            size: number;
        };
        /**
         * @description Where to begin again, and what to change before.
         * @example {
         *       "outputs": {
         *         "found": [
         *           "grey heron"
         *         ]
         *       },
         *       "stepId": "answer"
         *     }
         */
        BranchBody: {
            /**
             * @description In place of what the run was given.
             * @default null
             */
            initialContext?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description In place of what earlier steps gave, by variable.
             * @default {}
             */
            outputs?: {
                [key: string]: unknown;
            };
            /**
             * @description The step to begin at; the one that did not come out, unless it is named.
             * @default null
             */
            stepId?: string | null;
        };
        /** @description A branch of a project, as its stack lists it. */
        BranchView: {
            /**
             * @description When something was last said in it.
             * @example 2026-11-15T09:30:00.000Z
             */
            activeAt: string;
            archived: boolean;
            /** @description The folded branch that it goes on with. */
            continues: string | null;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            conversationId: string;
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description Whether it was folded and takes nothing more. */
            folded: boolean;
            /** @description The node it grew from. */
            forkOriginAlternativeId: string | null;
            /**
             * @description main, fork or `tool_run`.
             * @example main
             */
            kind: string;
            /**
             * Format: int64
             * @description How many nodes it has.
             */
            nodes: number;
            /** @description The branch it grew from; the tree of branches follows from this, not from the order of the stack. */
            parentConversationId: string | null;
            /** @example Herons of the lake */
            title: string;
        };
        BreachView: {
            /**
             * @description Which member of the step, else of the process, breaks it, as far as that can be told.
             * @example execution.timeout
             */
            field?: string;
            /** @description What is wrong. */
            problem: string;
            /** @description What to do about it. */
            remedy: string;
            /** @example BR-STEP-002 */
            rule: string;
            /**
             * @description Which step breaks it, from 1; none where that is the whole process.
             * @example 1
             */
            step?: number;
        };
        BriefView: {
            /** @example human */
            authorType: string;
            /** @description The first words of what it says. */
            brief: string | null;
            /** @example 01K9ZQ */
            localId: string;
            nodeId: string;
        };
        /**
         * @description Content an agent brings.
         * @example {
         *       "content": "Herons nest in May.",
         *       "source": "message",
         *       "speaker": "Ada"
         *     }
         */
        BringBody: {
            /** @description A string, or for json an object or a list. */
            content: unknown;
            /** @description From the paths of which node it is visible; without it from every path. */
            nodeId?: string | null;
            /**
             * @description text, message or json.
             * @example message
             */
            source: string;
            /** @description Who said it. */
            speaker?: string | null;
            /**
             * @description When it was said, if not now.
             * @example 2026-05-01T09:30:00.000Z
             */
            validAt?: string | null;
        };
        /** @description What was brought: kept, and remembered a moment later. */
        BroughtView: {
            /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /**
             * @description The item it is computed from.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            itemId: string;
            /** @description Whether the same was brought before, and this is that one: nothing was added. */
            known: boolean;
            /** @example 2026-05-01T09:30:00.000Z */
            validAt: string;
        };
        /** @description A call a run made: what it says of itself, what led to it, and what came of it. */
        CallView: {
            /** @description Tool, inputs, who asked, why, in which order, for whom, and who pays; empty once it was destroyed. */
            call: {
                [key: string]: unknown;
            };
            /** @description What led to it: a node, or another call. */
            causedBy: string | null;
            /** @description The other calls it builds upon. */
            derivedFrom: string[];
            /** @description An item of type `ToolCall`. */
            id: string;
            requestedAt: string;
            result: components["schemas"]["ResultView"] | null;
            /** @description The step it was made for. */
            stepId: string | null;
        };
        /** @description One thing on a chain. */
        ChainStepView: {
            /**
             * Format: int64
             * @description How many relations away.
             * @example 1
             */
            distance: number;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example item */
            type: string;
        };
        /** @description A chain, nearest first. */
        ChainView: {
            data: components["schemas"]["ChainStepView"][];
        };
        ChangeView: {
            after: unknown;
            before: unknown;
            /** @example value */
            field: string;
        };
        /** @description What came of asking a service whether it is there. */
        CheckView: {
            checkedAt: string;
            errorMessage: string | null;
            /**
             * Format: int64
             * @example 12
             */
            latencyMs: number;
            /**
             * @description healthy, degraded or down.
             * @example healthy
             */
            status: string;
        };
        /** @description One entry per node in each column. */
        ColumnsView: {
            /** @description h human, m model, s system, i imported. */
            author: string[];
            /** @description Milliseconds since 1970. */
            createdAt: number[];
            /** @description The root has 1, a remark 0. */
            depth: number[];
            id: string[];
            /** @description 1 bookmarked, 2 pruned, 4 excluded, added up. */
            marks: number[];
            /** @description The how many-th alternative of its turn; 0 for a remark. */
            ordinal: number[];
            /** @description The place of what it answers in `id`; -1 for none. */
            parent: number[];
            /** @description 1 for what its turn shows. */
            selected: number[];
            /**
             * @description Buffers: the position in `id` of the version that is shown in this node's place; -1 for a node without versions. Empty if
             *     no node has versions.
             */
            shownVersion: number[];
            /** @description 1 for what does not answer what is selected above it. */
            stale: number[];
            /** @description c complete, p pending, f failed. */
            status: string[];
            /** @description The place of its turn in `turns`; -1 for a remark. */
            turn: number[];
            /** @description 1 for what the path went on with last, from the node it answers: the way down to where its reader was. */
            visited: number[];
        };
        /**
         * @description What to compare; nothing is changed by it, so it needs no key of its own.
         * @example {
         *       "as": "nodes",
         *       "left": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
         *       "right": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        CompareBody: {
            /** @description nodes, word by word, or paths, by where they part; nodes unless it is said. */
            as?: components["schemas"]["ComparedAs"];
            /** @description The old one, or the end of one path. */
            left: string;
            /** @description The new one, or the end of the other path. */
            right: string;
        };
        /** @enum {string} */
        ComparedAs: "nodes" | "paths";
        /** @description How they differ. */
        ComparisonView: (components["schemas"]["NodesView"] & {
            /** @enum {string} */
            as: "nodes";
        }) | (components["schemas"]["PathsView"] & {
            /** @enum {string} */
            as: "paths";
        });
        /**
         * @description How a model is asked when this actor answers: when a process answers in a conversation with the text of its model. Of other
         *     actors refused (422).
         */
        ConfigurationFields: {
            /**
             * @description Fields added to the request in the provider's words, such as `top_p`. Those that Skein writes itself are refused (422). Sent
             *     when you pay for the call, not with the secret of a tool's owner.
             */
            customParameters?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int32
             * @description Longest answer in tokens, 1 to 1000000; the least of this, the tool's `maxTokens` and the step's `tokenBudget` applies.
             */
            maxTokens?: number | null;
            /** @description At most 16, beside those of the tool. */
            stopSequences?: string[] | null;
            /** @description Stands at the head of the context, before the `systemContext` of the conversation. */
            systemPrompt?: string | null;
            /**
             * Format: double
             * @description From 0 to 2. Applies where the tool, or the default of its service, sets none.
             */
            temperature?: number | null;
        };
        /**
         * @example {
         *       "systemContext": "Answer in one sentence.",
         *       "title": "Herons of the lake"
         *     }
         */
        ConversationBody: {
            /** @description Of a buffer: whether `systemContext` and other instructions are sent. Default true; refused for a dialogue (422). */
            bufferModeSystemContext?: boolean | null;
            /**
             * Format: int32
             * @description How many tokens a model is shown at most.
             */
            contextBudget?: number | null;
            description?: string | null;
            /** @description dialogue (left out) or buffer; it stays as it is made. */
            mode?: string | null;
            /** @description The process that is offered first. Default: your default process while it can answer; null offers none. */
            processId?: string | null;
            /** @description Your first project unless one is named. */
            projectId?: string | null;
            /** @description What every model is told first. */
            systemContext?: string | null;
            title?: string | null;
        };
        /**
         * @description What is absent stays; null takes away.
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "status": "archived"
         *     }
         */
        ConversationChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            /** @description Of a buffer: whether `systemContext` and other instructions are sent. Refused for a dialogue (422). */
            bufferModeSystemContext?: boolean | null;
            /** Format: int32 */
            contextBudget?: number | null;
            description?: string | null;
            processId?: string | null;
            /** @description active or archived. */
            status?: string | null;
            systemContext?: string | null;
            tags?: string[] | null;
            title?: string | null;
        };
        /** @description A conversation: what people set of it, and what its tree says. */
        ConversationView: components["schemas"]["EntryHead"] & {
            /**
             * @description When something was last said in it.
             * @example 2026-11-15T09:30:00.000Z
             */
            activeAt: string;
            /** @description Of a buffer: whether `systemContext` and other instructions are sent. Null means true. */
            bufferModeSystemContext: boolean | null;
            /** @description How many tokens a model is shown at most. */
            contextBudget: number | null;
            /** @description The folded conversation that this one goes on with. */
            continues: string | null;
            /** @description Where its owner stands. */
            cursorNodeId: string | null;
            description: string | null;
            /** @description Whether it was folded and takes nothing more. */
            folded: boolean;
            forkOriginAlternativeId: string | null;
            forkOriginTurnId: string | null;
            /**
             * @description main, fork or `tool_run`.
             * @example main
             */
            kind: string;
            /**
             * @description dialogue or buffer.
             * @example dialogue
             */
            mode: string;
            /**
             * Format: int64
             * @description How many nodes it has.
             * @example 12
             */
            nodes: number;
            parentConversationId: string | null;
            /** @description The process chosen last. */
            processId: string | null;
            /** @description The project it is grouped with by its newest `groups_with` relation to one of yours; null without such a relation. */
            projectId: string | null;
            rootNodeId: string | null;
            rootTurnId: string | null;
            /**
             * @description active or archived.
             * @example active
             */
            status: string;
            summary: components["schemas"]["FoldView"] | null;
            /** @description What every model is told first. */
            systemContext: string | null;
            tags: string[];
            /**
             * @description How it is called: by its title, else after the conversation it grew from, else by the first words said in it, else by its
             *     number.
             * @example Herons of the lake
             */
            title: string;
            /** @description Whose it is, as in `ownerId`. */
            userId: string;
        };
        /**
         * @description The most that a model's calls and those of its tools may cost together; what is spent in another currency, or at prices
         *     nobody knows, is not counted.
         */
        CostLimitFields: {
            /**
             * @description A decimal number.
             * @example 0.50
             */
            amount: string;
            /** @example USD */
            currency: string;
        };
        /** @description What somebody owes: whoever's secret was used, else whoever ran it. */
        CostView: {
            /**
             * @description A decimal number.
             * @example 0.00125
             */
            amount: string;
            /** @example USD */
            currency: string;
            payerId: string;
        };
        /** @description The database and how large it is now. */
        DatabaseView: {
            /**
             * Format: int64
             * @description Its files, or what PostgreSQL says of its own.
             * @example 4096000
             */
            bytes: number;
            /**
             * @description sqlite or postgresql.
             * @example sqlite
             */
            kind: string;
        };
        /** @description Work that nobody could do: whatever it belongs to has ended without it. */
        DeadJobView: {
            /**
             * Format: int64
             * @description How often it was tried.
             */
            attempts: number;
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /**
             * @description When it was put aside. It is kept as long as finished runs are.
             * @example 2026-11-15T09:31:30.000Z
             */
            diedAt: string;
            /** @description The run it is a part of. */
            executionId: string | null;
            /** @example job_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /**
             * Format: int64
             * @description How often the worker that had it was not heard of again.
             */
            lost: number;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            /**
             * @description What it waited for: a kind of call such as `rest_call`, or other work in the background.
             * @example rest_call
             */
            queue: string;
            /**
             * @description Why, of your own jobs and of those you look at by a grant.
             * @example its payload cannot be read
             */
            reason: string | null;
            /**
             * Format: int64
             * @description The number of its step in the run, from 0.
             */
            step: number | null;
        };
        /**
         * @description `{"decision": "approve", "inputs": …, "scope": …}`, `{"decision": "deny", "reason": …}`, `{"decision": "answer", "value": …}`
         *     or, to a model that wants a call, `{"decision": "ask", "question": …}`.
         * @example {
         *       "decision": "approve"
         *     }
         */
        DecisionBody: {
            /** @description approve, deny, answer or ask. */
            decision: string;
            /** @description In place of the inputs that are shown, when approving. */
            inputs?: unknown;
            /**
             * @description What the model is asked before the call it wants is decided, 1 to 4000 characters: the call is not made, and the model
             *     answers in words or asks for it again.
             */
            question?: string | null;
            /** @description Why not, when denying. */
            reason?: string | null;
            /**
             * @description How far an approval reaches: once, run (every later call of the tool in this run), sameArguments (those with the
             *     same arguments) or always (every later call of it in any of your runs, until you revoke that or the tool changes).
             *     A nested process is approved once, run or sameArguments. Without it, as far as the step says.
             */
            scope?: string | null;
            /** @description The answer. */
            value?: unknown;
        };
        /**
         * @example {
         *       "processId": null
         *     }
         */
        DefaultProcessBody: {
            /** @description The hash of the choice you looked at. Default: whatever it is now. */
            basedOnHash?: string | null;
            /**
             * @description An enabled process of yours that requires at most `conversationId`, `nodeId` and `message`, or null for the
             *     built-in model.
             */
            processId: string | null;
        };
        /** @description The process that answers in new conversations, and in agent turns that name none. */
        DefaultProcessView: {
            /**
             * @description Whether the next process that answers through a connected model becomes the default: until the first one
             *     exists, and after the chosen process was deleted.
             */
            adoptsNext: boolean;
            chosen: components["schemas"]["NamedProcessView"] | null;
            /** @description To base a change on. Null until something is chosen. */
            hash: string | null;
            /**
             * @description Why the chosen process does not answer, while a built-in model stands in for it.
             * @example its tool "llama": it is disabled
             */
            problem: string | null;
            process: components["schemas"]["NamedProcessView"] | null;
            /** @description The record of the choice; `/records/{id}/history` lists earlier ones. Null until something is chosen. */
            recordId: string | null;
            /** Format: int64 */
            version: number | null;
        };
        /**
         * @description Who is to decide: `{"userId": "user_…"}`, `{"userName": "Ben"}`, or `{"userId": null}` to take it back.
         * @example {
         *       "userId": "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        DelegateBody: {
            userId?: string | null;
            /** @description In place of the id: the whole name, where only one user is called so. */
            userName?: string | null;
        };
        /** @description One version of a record; also what a client that polls is told. */
        DeltaView: {
            _type: string;
            at: string;
            /** @example 0.42 */
            cursor: string;
            /** @description The `EntityDelta` that tells it. */
            itemId: string;
            newHash: string;
            /** @description The hash before; null for the first version. */
            oldHash: string | null;
            recordId: string;
            /** Format: int64 */
            version: number;
        };
        /** @description What changed in your records, and where to ask from next time. */
        DeltasView: {
            data: components["schemas"]["DeltaView"][];
            /**
             * @description Send it as `after` next time.
             * @example 0.42
             */
            next: string;
        };
        /** @description Something that steps depend on. */
        DependencyView: {
            /** @description Null if it is not yours to see. */
            id: string | null;
            /**
             * @description tool, service, secret or process.
             * @example tool
             */
            kind: string;
            name: string | null;
            /**
             * @example [
             *       "it was never checked"
             *     ]
             */
            reasons: string[];
            /**
             * @description healthy; warning: it may be tried; error: a run would fail there.
             * @example warning
             */
            status: string;
            /** @description The ids of the steps that depend on it. */
            steps: string[];
        };
        /** @description Where two texts differ. Equal and removed runs make up the old one, equal and added the new. */
        DiffView: {
            /**
             * @description words, lines or whole: how finely they were compared.
             * @example words
             */
            precision: string;
            runs: components["schemas"]["RunView"][];
        };
        /**
         * @description An OpenAPI document, or where it is, and what all tools made from it connect with.
         * @example {
         *       "connectionParams": {
         *         "endpoint": "https://weather.example"
         *       },
         *       "document": {
         *         "info": {
         *           "title": "Weather",
         *           "version": "1"
         *         },
         *         "openapi": "3.1.0",
         *         "paths": {
         *           "/now": {
         *             "get": {
         *               "operationId": "now",
         *               "responses": {
         *                 "200": {
         *                   "description": "The weather"
         *                 }
         *               }
         *             }
         *           }
         *         }
         *       }
         *     }
         */
        DiscoverBody: {
            connectionParams?: Record<string, unknown>;
            /** @description The document itself, OpenAPI 3. */
            document?: Record<string, unknown> | null;
            secretId?: string | null;
            /** @description Where it is served, as JSON or YAML. */
            url?: string | null;
        };
        DiscoveredView: {
            data: components["schemas"]["ToolView"][];
            /** @description Operations that cannot be tools. */
            skipped: components["schemas"]["SkippedView"][];
        };
        /** @description What leads into a node. */
        EdgeView: {
            /** @example edge_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            sources: components["schemas"]["SourceView"][];
            /** @description The node it leads into. */
            targetId: string;
            /**
             * @description continuation or annotation.
             * @example continuation
             */
            type: string;
        };
        /** @description A node of a history of edits, and what changed in it. */
        EditView: components["schemas"]["NodeView"] & {
            diff: components["schemas"]["DiffView"] | null;
        };
        /** @description Why no vectors are made for now. */
        EmbedderFailureView: {
            /**
             * Format: int32
             * @description How often in a row.
             */
            failures: number;
            /** @example the provider limits how often it is asked */
            message: string;
            /**
             * Format: int64
             * @description When it is tried again, in milliseconds from now.
             */
            retryInMs: number;
        };
        /** @description That a session has ended. */
        EndedView: {
            ended: boolean;
        };
        /**
         * @example {
         *       "host": "127.0.0.1",
         *       "port": 11434
         *     }
         */
        EndpointBody: {
            /** @description As it stands in the address: localhost and 127.0.0.1 are two decisions. */
            host: string;
            /** Format: int32 */
            port: number;
        };
        /** @description A host and port on this machine that services may call. */
        EndpointView: components["schemas"]["EntryHead"] & {
            /** @example 127.0.0.1 */
            host: string;
            /**
             * Format: int32
             * @example 11434
             */
            port: number;
        };
        /** @description What every entry of the catalogue says about itself. */
        EntryHead: {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description To base a change on. */
            hash: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /**
             * @description Whose it is; `user_00000000000000000000000000` is the installation itself.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            ownerId: string;
            /** @description Whether others may see and use it. */
            shared: boolean;
            /** @example 2026-11-15T09:30:00.000Z */
            updatedAt: string;
            /**
             * Format: int64
             * @example 1
             */
            version: number;
        };
        /** @description Something that is remembered. */
        EpisodeView: {
            actorId: string | null;
            branchId: string | null;
            /** @description What it says; null when that was destroyed. */
            content: string | null;
            conversationId: string | null;
            /**
             * @description When it became known here.
             * @example 2026-11-15T09:30:00.000Z
             */
            createdAt: string;
            /** Format: int64 */
            depth: number | null;
            /** @description Whose memory it belongs to. */
            groupId: string;
            /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            itemId: string;
            name: string;
            nodeId: string | null;
            /**
             * @description message, text, json, summary or introspection.
             * @example message
             */
            source: string;
            speaker: string | null;
            /**
             * @description `waiting` to be indexed, `indexed`, `kept` and never found, `destroyed`, `unbound` when nothing can be made of it, or
             *     `unindexed` where the server keeps no index.
             * @example indexed
             */
            status: string;
            /** @description Why it is not found, or not by everything; null when there is nothing to say. */
            statusReason: string | null;
            turnId: string | null;
            /**
             * @description When it was said.
             * @example 2026-11-15T09:30:00.000Z
             */
            validAt: string;
        };
        ErrorBody: {
            /** @description Stable; for programs. */
            code: string;
            /** @description Under which the server's log has this request. */
            correlationId: string;
            /** @description More for programs: the field, the index in a batch, both hashes of a conflict. */
            details: Record<string, unknown>;
            /** @description What is wrong and what to do; for people. */
            message: string;
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            /** @description The rule that would be broken, if it is one. */
            rule: string | null;
        };
        /** @description The envelope, for readers of the API document. */
        ErrorEnvelope: {
            error: components["schemas"]["ErrorBody"];
        };
        /** @description What the `data` of an event says. Its `id` is the cursor to go on from. */
        EventView: {
            /** @example 2026-11-15T09:30:00.000Z */
            at: string;
            /** @example 0.42 */
            cursor: string;
            /**
             * @description One of the names listed in this document.
             * @example item.appended
             */
            event: string;
            /** @description The fact the event was read off. */
            itemId: string;
            /**
             * @description The id of what it is about: an item, a record, a relation, a key, an operation.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            subject: string;
            /** @description An item's or a record's type. */
            subjectType: string | null;
        };
        /**
         * @description What a run is given.
         * @example {
         *       "initialContext": {
         *         "question": "How many herons?"
         *       }
         *     }
         */
        ExecuteBody: {
            /**
             * @description Values for what the process asks for.
             * @default {}
             */
            initialContext?: {
                [key: string]: unknown;
            };
            /**
             * Format: int64
             * @description Among your own runs, higher comes first.
             * @default 0
             */
            priority?: number;
        };
        /** @description The process that made a node, as it was then. */
        ExecutedByView: {
            processId: string;
            /** Format: int64 */
            version: number;
        };
        /** @description A run. */
        ExecutionView: {
            /** @description The run whose earlier outputs it took over. */
            branchedFrom: string | null;
            /** @description The processes from the outermost run to this one. */
            callStack: string[];
            conversationId: string | null;
            endedAt: string | null;
            /** @description Once it has failed: which step, what, and what to do. */
            error: Record<string, unknown> | null;
            /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            initialContext: {
                [key: string]: unknown;
            };
            /** @description The node it fills. */
            nodeId: string | null;
            /** @description Once it is completed. */
            output?: unknown;
            /** @description The run whose step started this one. */
            parentId: string | null;
            /** @description The number of that step, from 1. */
            parentStep: number | null;
            /** @description Since when nothing of it is begun, while it is paused. */
            pausedAt: string | null;
            processId: string;
            processName: string;
            /**
             * Format: int64
             * @description The version of the process that is carried out, to the end.
             */
            processVersion: number;
            startedAt: string;
            /**
             * @description running, completed, failed or cancelled.
             * @example completed
             */
            status: string;
            /**
             * Format: int64
             * @description Tokens used, once it has ended.
             */
            tokens: number;
        };
        /**
         * @description What an export is to hold: everything you own, unless a conversation is named.
         * @example {
         *       "withSecrets": false
         *     }
         */
        ExportBody: {
            /**
             * @description Only this conversation, with those it was forked from.
             * @default null
             */
            conversationId?: string | null;
            /**
             * @description The values of your secrets too, sealed under the passphrase that each download is asked for with.
             * @default false
             */
            withSecrets?: boolean;
        };
        /** @description A cut of your timeline, ready to be downloaded. */
        ExportView: {
            /** @description The one conversation it holds, with those it was forked from; null for everything. */
            conversationId: string | null;
            /**
             * @description Up to where on the timeline it goes.
             * @example 0.42
             */
            cursor: string;
            /** @example /api/v1/exports/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            downloadUrl: string;
            /**
             * @description The operation that made it.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            id: string;
            /**
             * @description Whether a download needs a passphrase, to seal the values of secrets with.
             * @example false
             */
            withSecrets: boolean;
        };
        /**
         * @description What a conversation is folded into.
         * @example {
         *       "summary": "There are eleven herons."
         *     }
         */
        FoldBody: {
            /** @description The nodes of this conversation that say so, at most 1000. Fragments (`item_…#3`) do not exist yet (422). */
            cites?: string[];
            /** @description The last node of the branch: reopening starts there. Default: the end of the continuation you read last. */
            nodeId?: string | null;
            /** @description What came of it, in words. */
            summary: string;
        };
        /** @description What a conversation was folded into. */
        FoldView: {
            at: string;
            authorId: string;
            /** @description The nodes it came from. Older ones may name a fragment, as `item_…#3`. */
            cites: string[];
            /** @description True when the text was destroyed. */
            isRedacted?: boolean;
            /** @description Empty after a redaction. */
            text: string;
            /**
             * @description The item that holds the text; redact it to destroy the text. Null for summaries of tool runs, and for those of earlier
             *     versions.
             */
            textItemId: string | null;
        };
        /**
         * @description Which alternative to go on from, and how to call it.
         * @example {
         *       "title": "Herons by night"
         *     }
         */
        ForkAtTurnBody: {
            /**
             * @description What the turn shows, unless one is named.
             * @default null
             */
            alternativeId?: string | null;
            /**
             * @description Must be false or left out: no entities are active yet, so there is nothing to copy (422).
             * @default false
             */
            copyActiveEntities?: boolean | null;
            /**
             * @description Default: none; it is shown as "Fork of" and the title of this conversation.
             * @default null
             */
            title?: string | null;
        };
        /**
         * @description Where to go on from, and how to call it.
         * @example {
         *       "title": "Herons by night"
         *     }
         */
        ForkBody: {
            /**
             * @description Must be false or left out: no entities are active yet, so there is nothing to copy (422).
             * @default false
             */
            copyActiveEntities?: boolean | null;
            /**
             * @description The node to go on from; where you stand unless it is named.
             * @default null
             */
            nodeId?: string | null;
            /**
             * @description Default: none; it is shown as "Fork of" and the title of this conversation.
             * @default null
             */
            title?: string | null;
        };
        /** @description What was found, and what was searched for it. */
        FoundListing: components["schemas"]["Listing_FoundView"] & {
            searched: components["schemas"]["SearchedView"];
        };
        /**
         * @example {
         *       "conversationId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        FrameBody: {
            /** @description A conversation of the project. */
            conversationId: string;
            /** @description A node of it; without one they stand where they stood in it. */
            nodeId?: string | null;
        };
        /** @description Where a participant of a project is. */
        FrameView: {
            /**
             * @description `user_…` for the owner, `entity_…` for an actor.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            actorId: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            conversationId: string;
            /** @description Where they stand in it: what they wrote or turned to last; null when that is nothing yet. */
            headNodeId: string | null;
        };
        /** @description Everybody's place in a project. */
        FramesView: {
            data: components["schemas"]["FrameView"][];
        };
        /** @description How a node was made, or is being made. */
        GenerationView: {
            /** @description In the order they were made. */
            calls: components["schemas"]["MadeCallView"][];
            cost: components["schemas"]["SpendingView"] | null;
            /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            executionId: string;
            /**
             * Format: int64
             * @description What models read for it; null where that is not known.
             */
            inputTokens: number | null;
            nodeId: string;
            /**
             * Format: int64
             * @description What models wrote for it.
             */
            outputTokens: number | null;
        };
        /** @description How the nodes that were asked about were made. */
        GenerationsView: {
            /** @description In the order they were asked for; nodes that no run made are left out. */
            data: components["schemas"]["GenerationView"][];
        };
        /** @description A grant, as its administrator and the user who is looked at see it. */
        GrantView: {
            adminId: string;
            createdAt: string;
            endedAt: string | null;
            /**
             * @description To be sent as `Skein-Grant`.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            id: string;
            /** @example ticket 42 */
            name: string;
            ownerId: string;
            reason: string;
            until: string;
        };
        /** @description What was said, where, and which turns show something else for it. */
        GrownView: {
            affectedTurns: components["schemas"]["AffectedTurnView"][];
            node: components["schemas"]["NodeView"];
            turn: components["schemas"]["TurnView"] | null;
        };
        /** @description One version of a record, with who made it. */
        HistoryView: components["schemas"]["DeltaView"] & {
            /**
             * @description Who made it; null when that was destroyed.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            author: string | null;
            /** @description Why, if they said so. */
            reason: string | null;
        };
        /** @description One image of a part. */
        ImageView: {
            /** @description Why it is sent as text: modelWithoutImages, notAUserMessage, bufferMode, tooLarge, tooMany or unreadable. */
            because: string | null;
            /** @description The item that attached it. */
            ref: string;
            /**
             * @description image; or text, then its alternative text is sent in its place.
             * @example image
             */
            sentAs: string;
            /** @description Tokens it takes as an image, estimated from its size. */
            tokens: number;
        };
        /** @description What an import brought. */
        ImportView: {
            /**
             * Format: int64
             * @description Items that were not there.
             * @example 120
             */
            added: number;
            /**
             * Format: int64
             * @description Blobs that were not there.
             * @example 2
             */
            blobs: number;
            /**
             * @description Whose things came in.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            ownerId: string;
            /**
             * Format: int64
             * @description Secrets that got their value from the bundle.
             * @example 0
             */
            secretValues: number;
            /**
             * Format: int64
             * @description Secrets of the owner's that have no value here; replace it before a tool uses them.
             * @example 0
             */
            secretsWithoutValue: number;
            /**
             * Format: int64
             * @description Items that were.
             * @example 0
             */
            skipped: number;
        };
        /** @description The index, and what is not remembered yet. */
        IndexView: {
            /** @description Whether this server keeps an index; without one, words are looked for in the store. */
            available: boolean;
            /** @description Items between these, counted up to a hundred thousand. */
            behind: number | null;
            /** Format: int64 */
            bytes: number;
            /**
             * @description Whether everything there was when the server began, or when it was to be built again, is in it; until then words are
             *     looked for in the store.
             */
            caughtUp: boolean;
            /** @description What is to make them, by the configuration. */
            configuredEmbedder: string | null;
            /**
             * @description How far it has come along the timeline.
             * @example 12.345
             */
            cursor: string | null;
            /** @description What made the vectors. */
            embedder: string | null;
            embedderFailure: components["schemas"]["EmbedderFailureView"] | null;
            /**
             * @description Where the timeline ends.
             * @example 12.345
             */
            end: string | null;
            /** Format: int64 */
            episodes: number;
            /** @description Why nothing could be indexed when that was last tried; it is tried again. */
            failure: string | null;
            /** @description How it stands with each owner, those with most to do first, at most a hundred. */
            owners: components["schemas"]["OwnerIndexView"][];
            /** @description Whether what somebody said is being filed under the name they have now. */
            renaming: boolean;
            switching: components["schemas"]["SwitchingView"] | null;
            /**
             * @description What was said or brought and is not remembered: first what nothing can be made of, of which there may be more in
             *     `GET /index/unindexable`, then what was not looked at yet; the oldest first, at most a hundred.
             */
            unbound: components["schemas"]["UnboundView"][];
            /**
             * Format: int64
             * @description Of these, how many have a vector; the others are found by their words.
             */
            withVector: number;
        };
        /** @description Something that was made from a template. */
        InstanceView: components["schemas"]["EntryHead"] & {
            /** @example Weather */
            name: string;
        };
        /** @description A fact: never altered, never deleted. */
        ItemView: {
            /** @example Note */
            _type: string;
            /**
             * @description When it happened, corrections applied.
             * @example 2026-11-15T09:30:00.000Z
             */
            canonicalAt: string;
            /**
             * @description Its place on the timeline.
             * @example 0.42
             */
            cursor: string;
            /** @description What is stated; null when it was destroyed, or is no document. */
            data: Record<string, unknown> | null;
            hash: string;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            payloadHash: string;
            /**
             * @description When it was recorded.
             * @example 2026-11-15T09:30:00.000Z
             */
            realizedAt: string;
            /** @description True when the payload was destroyed. */
            redacted?: boolean;
            /** @description The tombstone that hides it from listings. */
            supersededBy?: string;
        };
        /** @description An API key; the key itself is told once, when it is made. */
        KeyView: {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the key stops working; null for a key that works until it is revoked.
             * @example 2027-02-15T09:30:00.000Z
             */
            expiresAt: string | null;
            /** @example key_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description Whether `expiresAt` has passed. */
            isExpired: boolean;
            /**
             * @description The key itself; a replay leaves it out.
             * @example sk_…
             */
            key?: string;
            /** @description To the minute. */
            lastUsedAt: string | null;
            /** @example laptop */
            name: string;
            revokedAt: string | null;
            /**
             * @description read, write or admin; each includes the ones before it.
             * @example write
             */
            scope: string;
        };
        /** @description A call that did not succeed. */
        LastFailureView: {
            at: string;
            /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            executionId: string | null;
            /** @description What went wrong; null once that was destroyed. */
            message: string | null;
        };
        /** @description One of a list. */
        ListedApprovalView: components["schemas"]["ApprovalView"] & {
            /** @description Whether the tool is still what was approved. */
            counts: boolean;
            /**
             * @description How the tool is called now; null once it is gone.
             * @example Water level
             */
            toolName: string | null;
        };
        Listing_ActorView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ActorFields"])[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_BranchView: {
            data: {
                /**
                 * @description When something was last said in it.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                activeAt: string;
                archived: boolean;
                /** @description The folded branch that it goes on with. */
                continues: string | null;
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                conversationId: string;
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /** @description Whether it was folded and takes nothing more. */
                folded: boolean;
                /** @description The node it grew from. */
                forkOriginAlternativeId: string | null;
                /**
                 * @description main, fork or `tool_run`.
                 * @example main
                 */
                kind: string;
                /**
                 * Format: int64
                 * @description How many nodes it has.
                 */
                nodes: number;
                /** @description The branch it grew from; the tree of branches follows from this, not from the order of the stack. */
                parentConversationId: string | null;
                /** @example Herons of the lake */
                title: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ChainLinkView: {
            data: {
                authorId: string;
                /**
                 * @description human, model, system or imported.
                 * @example human
                 */
                authorType: string;
                /** @description Covers what it says, the hashes of what it answers, when, by whom and from what raw response. */
                contentHash: string | null;
                conversationId: string;
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /** @description The node it was edited from. */
                editedFrom: string | null;
                executedBy: components["schemas"]["ExecutedByView"] | null;
                /** @description The hash of the item that tells its place in the tree. */
                itemHash: string;
                /** @example 01K9ZQ */
                localId: string;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                nodeId: string;
                rawResponse: components["schemas"]["RawResponseView"] | null;
                /**
                 * @description When it was recorded here.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                realizedAt: string;
                /**
                 * @description valid, imported, redacted, incomplete or invalid; null while it is generated and when that failed.
                 * @example valid
                 */
                verdict: string | null;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ConversationView: {
            data: (components["schemas"]["EntryHead"] & {
                /**
                 * @description When something was last said in it.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                activeAt: string;
                /** @description Of a buffer: whether `systemContext` and other instructions are sent. Null means true. */
                bufferModeSystemContext: boolean | null;
                /** @description How many tokens a model is shown at most. */
                contextBudget: number | null;
                /** @description The folded conversation that this one goes on with. */
                continues: string | null;
                /** @description Where its owner stands. */
                cursorNodeId: string | null;
                description: string | null;
                /** @description Whether it was folded and takes nothing more. */
                folded: boolean;
                forkOriginAlternativeId: string | null;
                forkOriginTurnId: string | null;
                /**
                 * @description main, fork or `tool_run`.
                 * @example main
                 */
                kind: string;
                /**
                 * @description dialogue or buffer.
                 * @example dialogue
                 */
                mode: string;
                /**
                 * Format: int64
                 * @description How many nodes it has.
                 * @example 12
                 */
                nodes: number;
                parentConversationId: string | null;
                /** @description The process chosen last. */
                processId: string | null;
                /** @description The project it is grouped with by its newest `groups_with` relation to one of yours; null without such a relation. */
                projectId: string | null;
                rootNodeId: string | null;
                rootTurnId: string | null;
                /**
                 * @description active or archived.
                 * @example active
                 */
                status: string;
                summary: components["schemas"]["FoldView"] | null;
                /** @description What every model is told first. */
                systemContext: string | null;
                tags: string[];
                /**
                 * @description How it is called: by its title, else after the conversation it grew from, else by the first words said in it, else by its
                 *     number.
                 * @example Herons of the lake
                 */
                title: string;
                /** @description Whose it is, as in `ownerId`. */
                userId: string;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_DeadJobView: {
            data: {
                /**
                 * Format: int64
                 * @description How often it was tried.
                 */
                attempts: number;
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /**
                 * @description When it was put aside. It is kept as long as finished runs are.
                 * @example 2026-11-15T09:31:30.000Z
                 */
                diedAt: string;
                /** @description The run it is a part of. */
                executionId: string | null;
                /** @example job_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /**
                 * Format: int64
                 * @description How often the worker that had it was not heard of again.
                 */
                lost: number;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                ownerId: string;
                /**
                 * @description What it waited for: a kind of call such as `rest_call`, or other work in the background.
                 * @example rest_call
                 */
                queue: string;
                /**
                 * @description Why, of your own jobs and of those you look at by a grant.
                 * @example its payload cannot be read
                 */
                reason: string | null;
                /**
                 * Format: int64
                 * @description The number of its step in the run, from 0.
                 */
                step: number | null;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_EdgeView: {
            data: {
                /** @example edge_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                sources: components["schemas"]["SourceView"][];
                /** @description The node it leads into. */
                targetId: string;
                /**
                 * @description continuation or annotation.
                 * @example continuation
                 */
                type: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_EditView: {
            data: (components["schemas"]["NodeView"] & {
                diff: components["schemas"]["DiffView"] | null;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_EndpointView: {
            data: (components["schemas"]["EntryHead"] & {
                /** @example 127.0.0.1 */
                host: string;
                /**
                 * Format: int32
                 * @example 11434
                 */
                port: number;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_EpisodeView: {
            data: {
                actorId: string | null;
                branchId: string | null;
                /** @description What it says; null when that was destroyed. */
                content: string | null;
                conversationId: string | null;
                /**
                 * @description When it became known here.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                createdAt: string;
                /** Format: int64 */
                depth: number | null;
                /** @description Whose memory it belongs to. */
                groupId: string;
                /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                itemId: string;
                name: string;
                nodeId: string | null;
                /**
                 * @description message, text, json, summary or introspection.
                 * @example message
                 */
                source: string;
                speaker: string | null;
                /**
                 * @description `waiting` to be indexed, `indexed`, `kept` and never found, `destroyed`, `unbound` when nothing can be made of it, or
                 *     `unindexed` where the server keeps no index.
                 * @example indexed
                 */
                status: string;
                /** @description Why it is not found, or not by everything; null when there is nothing to say. */
                statusReason: string | null;
                turnId: string | null;
                /**
                 * @description When it was said.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                validAt: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ExecutionView: {
            data: {
                /** @description The run whose earlier outputs it took over. */
                branchedFrom: string | null;
                /** @description The processes from the outermost run to this one. */
                callStack: string[];
                conversationId: string | null;
                endedAt: string | null;
                /** @description Once it has failed: which step, what, and what to do. */
                error: Record<string, unknown> | null;
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                initialContext: {
                    [key: string]: unknown;
                };
                /** @description The node it fills. */
                nodeId: string | null;
                /** @description Once it is completed. */
                output?: unknown;
                /** @description The run whose step started this one. */
                parentId: string | null;
                /** @description The number of that step, from 1. */
                parentStep: number | null;
                /** @description Since when nothing of it is begun, while it is paused. */
                pausedAt: string | null;
                processId: string;
                processName: string;
                /**
                 * Format: int64
                 * @description The version of the process that is carried out, to the end.
                 */
                processVersion: number;
                startedAt: string;
                /**
                 * @description running, completed, failed or cancelled.
                 * @example completed
                 */
                status: string;
                /**
                 * Format: int64
                 * @description Tokens used, once it has ended.
                 */
                tokens: number;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_FoundView: {
            data: {
                /** @description Who said it. */
                actorId: string | null;
                /** @description The branch it stands on, and how deep. */
                branchId: string | null;
                conversationId: string | null;
                /**
                 * @description When it was said.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                createdAt: string;
                /** Format: int64 */
                depth: number | null;
                /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                episodeId: string;
                /**
                 * @description `path` you stand on, `elsewhere` on the main path of another conversation, `aside` on a branch that no path shows, or
                 *     `anywhere`.
                 * @example elsewhere
                 */
                found: string;
                /** @description Where in the snippet something matched, each from one character to another, counted in UTF-16 units. */
                highlights: number[][];
                /**
                 * @description When it became known here.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                knownAt: string;
                name: string;
                /**
                 * @description Where it was said; null for what was brought and names no node.
                 * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                nodeId: string | null;
                parts: components["schemas"]["PartsView"];
                /** @description Who said what was brought. */
                saidBy: string | null;
                /**
                 * Format: float
                 * @description The sum of the parts.
                 */
                score: number;
                /** @description What it says around what matched. */
                snippet: string;
                /**
                 * @description message, text, json, summary or introspection.
                 * @example message
                 */
                source: string;
                /** @description user, agent or system. */
                speaker: string | null;
                turnId: string | null;
                /** @description The words that matched, in lower case. */
                words: string[];
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_GrantView: {
            data: {
                adminId: string;
                createdAt: string;
                endedAt: string | null;
                /**
                 * @description To be sent as `Skein-Grant`.
                 * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                id: string;
                /** @example ticket 42 */
                name: string;
                ownerId: string;
                reason: string;
                until: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_HistoryView: {
            data: (components["schemas"]["DeltaView"] & {
                /**
                 * @description Who made it; null when that was destroyed.
                 * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                author: string | null;
                /** @description Why, if they said so. */
                reason: string | null;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_InstanceView: {
            data: (components["schemas"]["EntryHead"] & {
                /** @example Weather */
                name: string;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ItemView: {
            data: {
                /** @example Note */
                _type: string;
                /**
                 * @description When it happened, corrections applied.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                canonicalAt: string;
                /**
                 * @description Its place on the timeline.
                 * @example 0.42
                 */
                cursor: string;
                /** @description What is stated; null when it was destroyed, or is no document. */
                data: Record<string, unknown> | null;
                hash: string;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                ownerId: string;
                payloadHash: string;
                /**
                 * @description When it was recorded.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                realizedAt: string;
                /** @description True when the payload was destroyed. */
                redacted?: boolean;
                /** @description The tombstone that hides it from listings. */
                supersededBy?: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_KeyView: {
            data: {
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When the key stops working; null for a key that works until it is revoked.
                 * @example 2027-02-15T09:30:00.000Z
                 */
                expiresAt: string | null;
                /** @example key_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @description Whether `expiresAt` has passed. */
                isExpired: boolean;
                /**
                 * @description The key itself; a replay leaves it out.
                 * @example sk_…
                 */
                key?: string;
                /** @description To the minute. */
                lastUsedAt: string | null;
                /** @example laptop */
                name: string;
                revokedAt: string | null;
                /**
                 * @description read, write or admin; each includes the ones before it.
                 * @example write
                 */
                scope: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ListedApprovalView: {
            data: (components["schemas"]["ApprovalView"] & {
                /** @description Whether the tool is still what was approved. */
                counts: boolean;
                /**
                 * @description How the tool is called now; null once it is gone.
                 * @example Water level
                 */
                toolName: string | null;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_NodeView: {
            data: {
                authorId: string;
                /**
                 * @description human, model, system or imported.
                 * @example human
                 */
                authorType: string;
                bookmarked: boolean;
                /**
                 * @description valid, stale or generating: whether it answers what is selected above it.
                 * @example valid
                 */
                cacheStatus: string;
                /** @description What it says; null while it is generated, when that failed, and once it was destroyed. */
                content: {
                    [key: string]: unknown;
                } | null;
                contentHash: string | null;
                conversationId: string;
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /**
                 * Format: int64
                 * @description How many turns lead here, this one included; the root has 1.
                 */
                depth: number | null;
                /** @description The node it was edited from. */
                editedFrom: string | null;
                /**
                 * @description The episode that remembers it; null until it is made, and in answers to changes, which do not wait for it.
                 * @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                episodeId: string | null;
                /** @description Whether models are not shown it. */
                excluded: boolean;
                executedBy: components["schemas"]["ExecutedByView"] | null;
                hasChildren: boolean;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @description Whether it is what its turn shows. */
                isActive: boolean;
                /** @description Whether what it said was destroyed. */
                isRedacted: boolean;
                /** @description The label of the bookmark. */
                label: string | null;
                /**
                 * @description Its short name inside its conversation.
                 * @example 01K9ZQ
                 */
                localId: string;
                /** @description Whether it and everything it descends from is what its turn shows. */
                onPath: boolean;
                /**
                 * Format: int64
                 * @description The how many-th alternative of its turn it is.
                 */
                ordinal: number | null;
                /** @description The node it answers; null at the root. */
                parentAlternativeId: string | null;
                /** @description Whether it was cut off, with all that follows it. */
                pruned: boolean;
                /** @description user, agent or system. */
                speaker: string | null;
                /**
                 * @description pending, complete or failed.
                 * @example complete
                 */
                status: string;
                /** @description Null for a remark, which stands beside the turns. */
                turnId: string | null;
                /** @description message, `tool_result` or summary. */
                turnType: string | null;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_OperationView: {
            data: {
                createdAt: string;
                /** @description What went wrong, once it has failed. */
                error?: unknown;
                /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example item.append */
                kind: string;
                /**
                 * Format: int64
                 * @description Percent done.
                 * @example 100
                 */
                progress: number;
                /** @description What came out, once it is completed: references to what was made, or a report. */
                result?: unknown;
                /**
                 * @description queued, processing, completed, failed or cancelled.
                 * @example completed
                 */
                status: string;
                updatedAt: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ProcessView: {
            data: (components["schemas"]["ProcessFields"] & {
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /** @description To base a change on. */
                hash: string;
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                ownerId: string;
                /** @example 2026-11-15T09:30:00.000Z */
                updatedAt: string;
                /**
                 * Format: int64
                 * @description Grows with each change; runs and answers say which one they followed.
                 * @example 1
                 */
                version: number;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ProjectView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ProjectFields"])[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_RecordView: {
            data: {
                /** @example Setting */
                _type: string;
                createdAt: string;
                data: Record<string, unknown>;
                hash: string;
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                ownerId: string;
                previousHash: string | null;
                shared: boolean;
                updatedAt: string;
                /**
                 * Format: int64
                 * @example 3
                 */
                version: number;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_RelationView: {
            data: {
                /**
                 * Format: double
                 * @description How sure an inference is, from 0 to 1; null when the edge was stated.
                 */
                confidence: number | null;
                createdAt: string;
                /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example derived_from */
                kind: string;
                metadata: Record<string, unknown>;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                source: string;
                /** @example item */
                sourceType: string;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y60 */
                target: string;
                /** @example item */
                targetType: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ReviewView: {
            data: {
                /**
                 * @description By `kind`: `call` or `wish` (approve a tool call), `process` (approve a nested execution), `answer` (answer a question),
                 *     `unknown` or `unknownProcess` (decide about a call or a nested execution whose end nobody saw). `inputs` are complete.
                 *     `toolVersion` is there where the step names one.
                 */
                asked: Record<string, unknown>;
                askedBy: components["schemas"]["PersonView"] | null;
                /** @description Name of the process that the step would run, where `asked.kind` is `process` or `unknownProcess`. */
                calledProcessName: string | null;
                createdAt: string;
                decidedBy: components["schemas"]["PersonView"] | null;
                decision: Record<string, unknown> | null;
                delegate: components["schemas"]["PersonView"] | null;
                endedAt: string | null;
                /** @description The run that waits; nothing for whoever decides in its owner's place. */
                executionId: string | null;
                expiresAt: string | null;
                /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                processName: string;
                /**
                 * @description open, decided, expired or withdrawn.
                 * @example open
                 */
                status: string;
                stepId: string;
                /** @description What the tool is called, where you decide in its owner's place and may not see it. */
                toolName: string | null;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_SecretView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["SecretFields"] & {
                /** @description Its owner once more: a secret belongs to one user. */
                userId: string;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ServiceTemplateView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ServiceTemplateFields"])[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ServiceView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ServiceFields"] & components["schemas"]["VitalView"])[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_SessionView: {
            data: {
                /** @description Whether it is the one that asks. */
                current: boolean;
                /** @example 2026-12-15T09:30:00.000Z */
                expiresAt: string;
                /** @example session_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example 2026-11-15T09:30:00.000Z */
                startedAt: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_TagView: {
            data: {
                /**
                 * Format: int64
                 * @example 3
                 */
                nodes: number;
                /** @example heron */
                tag: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_TaggedNodeView: {
            data: (components["schemas"]["NodeView"] & {
                tags: string[];
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ToolTemplateView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ToolTemplateFields"])[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_ToolView: {
            data: (components["schemas"]["EntryHead"] & components["schemas"]["ToolFields"] & components["schemas"]["VitalView"] & {
                /**
                 * @description Whether the model it asks is sent images: `acceptsImages` of its operation, else true for known families of models.
                 *     Other models are sent the alternative text.
                 */
                acceptsImages: boolean;
            })[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_UnboundView: {
            data: {
                /**
                 * @description The number its episode would have, and that its node or item has.
                 * @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                id: string;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                ownerId: string;
                /** @example it names a node that is not there, or that has no place of its own */
                reason: string;
                /**
                 * @description When that was found, or when it became known here if nobody looked yet.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                since: string;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_UserView: {
            data: {
                /** @example 2026-11-15T09:30:00.000Z */
                createdAt: string;
                /** @description To base a change on. */
                hash: string;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example anna */
                name: string;
                /**
                 * @description user or admin.
                 * @example user
                 */
                role: string;
                /** @description Signs the new user in, once; told once. */
                signInLink?: components["schemas"]["SignInLinkView"];
                /**
                 * Format: int64
                 * @example 1
                 */
                version: number;
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        Listing_WorkerView: {
            data: {
                /**
                 * Format: int64
                 * @description How many calls it makes at once.
                 */
                concurrency: number;
                currentJobIds: string[];
                /** Format: int64 */
                errorCount: number;
                host: string;
                /** @example worker_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                lastHeartbeat: string;
                /** Format: int64 */
                pid: number;
                /** Format: int64 */
                processedCount: number;
                startedAt: string;
                /**
                 * @description idle, busy or offline.
                 * @example idle
                 */
                status: string;
                /** @description `graph_query`, `llm_call`, `rest_call`, `mcp_tool`. */
                types: string[];
            }[];
            pagination: components["schemas"]["Pagination"];
        };
        /** @description One call, in a line. */
        MadeCallView: {
            /**
             * @description person, model, process or external.
             * @example model
             */
            caller: string | null;
            /** @description What went wrong. */
            error: string | null;
            executionId: string;
            /** @description An item of type `ToolCall`. */
            id: string;
            /** @description Whether it is an ability of Skein itself. */
            isOwn: boolean;
            /** Format: int64 */
            latencyMs: number | null;
            /**
             * @description The model that answered, as its provider names it; null for other calls.
             * @example claude-sonnet-4-5
             */
            model: string | null;
            /**
             * @description `rest_call`, `llm_call`, `mcp_tool` or `graph_query`.
             * @example rest_call
             */
            operation: string | null;
            /** @description The item that holds what a model answered, as it was received. */
            rawResponseId: string | null;
            /** @description Whether these were reckoned from the length of what it thought, as its provider did not count them. */
            reasoningIsEstimate: boolean;
            /**
             * Format: int64
             * @description How many tokens a model thought aloud before it answered; null where it did not.
             */
            reasoningTokens: number | null;
            /**
             * @description success, error, cancelled or unknown; null while it is under way.
             * @example success
             */
            status: string | null;
            /** @description Null once the call was destroyed. */
            toolId: string | null;
            /** @description How the tool is called now. */
            toolName: string | null;
        };
        /**
         * @description What to note beside a node; what is absent stays.
         * @example {
         *       "bookmarked": true,
         *       "label": "the count",
         *       "tag": [
         *         "heron"
         *       ]
         *     }
         */
        MarksBody: {
            /** @default null */
            bookmarked?: boolean | null;
            /**
             * @description Whether models are not shown it.
             * @default null
             */
            excluded?: boolean | null;
            /**
             * @description What the bookmark is called; goes with it.
             * @default null
             */
            label?: string | null;
            /**
             * @description Whether it is cut off, with all that follows it.
             * @default null
             */
            pruned?: boolean | null;
            /**
             * @description Tags to give it. What has the tag `pinned` stays in what models are shown while there is room for anything.
             * @default []
             */
            tag?: string[];
            /**
             * @description Tags to take off.
             * @default []
             */
            untag?: string[];
        };
        /**
         * @description Which project a conversation is to be of.
         * @example {
         *       "projectId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        MembershipBody: {
            projectId: string;
        };
        /** @description A text, or an image as it would be sent. */
        MessagePartView: {
            text: string;
            /** @enum {string} */
            type: "text";
        } | {
            /** @description Its size as it is sent, before base64. */
            bytes: number;
            /** @description Stands for it where images are not accepted. */
            description: string;
            /** @description SHA-256 of the bytes that are sent. */
            hash: string;
            /** @example image/jpeg */
            mediaType: string;
            /** @enum {string} */
            type: "image";
        };
        /** @description One message of a chat. */
        MessageView: {
            /** @description Texts and images in their order, where it has images or several texts. */
            parts?: components["schemas"]["MessagePartView"][];
            /**
             * @description system, user or assistant.
             * @example user
             */
            role: string;
            /** @description Its texts, a blank line between them; images as notes in brackets. */
            text: string;
        };
        /** @description Something that happened in a run or in one it started. */
        MomentView: {
            at: string;
            executionId: string;
            /** @description How a call, a question or the run came out. */
            status: string | null;
            stepId: string | null;
            /** @description The call, its result, or the question. */
            thingId: string | null;
            /**
             * @description began, called, returned, asked, decided or ended.
             * @example called
             */
            what: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ActivatedView: {
            affectedTurns: components["schemas"]["AffectedTurnView"][];
            alternativeId: string;
            turnId: string | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ActorView: (components["schemas"]["EntryHead"] & components["schemas"]["ActorFields"]) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_AnsweringView: {
            answers: components["schemas"]["AnswerView"][];
            /** @description Why a built-in model answers in place of your default process; absent otherwise. */
            fallback?: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ApprovalView: {
            /**
             * Format: int32
             * @description The version of what the tool does that was approved; once that changes, you are asked again.
             */
            definitionVersion: number;
            /** @example 2026-11-15T09:30:00.000Z */
            givenAt: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description The question it was given with. */
            reviewId: string;
            toolId: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_BatchView: {
            data: components["schemas"]["ItemView"][];
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_BindingView: (components["schemas"]["EntryHead"] & {
            /**
             * Format: int32
             * @description What the tool did when the secret was bound; once its owner changes that, bind again.
             * @example 1
             */
            definitionVersion: number;
            secretId: string;
            toolId: string;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_BlobView: {
            /**
             * @description SHA-256 of the bytes.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            hash: string;
            /** @description The fact that names them; redact it to destroy them. */
            itemId: string;
            /** @example image/png */
            mediaType: string;
            /**
             * Format: int64
             * @example 4
             */
            size: number;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_BranchView: {
            /**
             * @description When something was last said in it.
             * @example 2026-11-15T09:30:00.000Z
             */
            activeAt: string;
            archived: boolean;
            /** @description The folded branch that it goes on with. */
            continues: string | null;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            conversationId: string;
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description Whether it was folded and takes nothing more. */
            folded: boolean;
            /** @description The node it grew from. */
            forkOriginAlternativeId: string | null;
            /**
             * @description main, fork or `tool_run`.
             * @example main
             */
            kind: string;
            /**
             * Format: int64
             * @description How many nodes it has.
             */
            nodes: number;
            /** @description The branch it grew from; the tree of branches follows from this, not from the order of the stack. */
            parentConversationId: string | null;
            /** @example Herons of the lake */
            title: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_BroughtView: {
            /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /**
             * @description The item it is computed from.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            itemId: string;
            /** @description Whether the same was brought before, and this is that one: nothing was added. */
            known: boolean;
            /** @example 2026-05-01T09:30:00.000Z */
            validAt: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ConversationView: (components["schemas"]["EntryHead"] & {
            /**
             * @description When something was last said in it.
             * @example 2026-11-15T09:30:00.000Z
             */
            activeAt: string;
            /** @description Of a buffer: whether `systemContext` and other instructions are sent. Null means true. */
            bufferModeSystemContext: boolean | null;
            /** @description How many tokens a model is shown at most. */
            contextBudget: number | null;
            /** @description The folded conversation that this one goes on with. */
            continues: string | null;
            /** @description Where its owner stands. */
            cursorNodeId: string | null;
            description: string | null;
            /** @description Whether it was folded and takes nothing more. */
            folded: boolean;
            forkOriginAlternativeId: string | null;
            forkOriginTurnId: string | null;
            /**
             * @description main, fork or `tool_run`.
             * @example main
             */
            kind: string;
            /**
             * @description dialogue or buffer.
             * @example dialogue
             */
            mode: string;
            /**
             * Format: int64
             * @description How many nodes it has.
             * @example 12
             */
            nodes: number;
            parentConversationId: string | null;
            /** @description The process chosen last. */
            processId: string | null;
            /** @description The project it is grouped with by its newest `groups_with` relation to one of yours; null without such a relation. */
            projectId: string | null;
            rootNodeId: string | null;
            rootTurnId: string | null;
            /**
             * @description active or archived.
             * @example active
             */
            status: string;
            summary: components["schemas"]["FoldView"] | null;
            /** @description What every model is told first. */
            systemContext: string | null;
            tags: string[];
            /**
             * @description How it is called: by its title, else after the conversation it grew from, else by the first words said in it, else by its
             *     number.
             * @example Herons of the lake
             */
            title: string;
            /** @description Whose it is, as in `ownerId`. */
            userId: string;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_DefaultProcessView: {
            /**
             * @description Whether the next process that answers through a connected model becomes the default: until the first one
             *     exists, and after the chosen process was deleted.
             */
            adoptsNext: boolean;
            chosen: components["schemas"]["NamedProcessView"] | null;
            /** @description To base a change on. Null until something is chosen. */
            hash: string | null;
            /**
             * @description Why the chosen process does not answer, while a built-in model stands in for it.
             * @example its tool "llama": it is disabled
             */
            problem: string | null;
            process: components["schemas"]["NamedProcessView"] | null;
            /** @description The record of the choice; `/records/{id}/history` lists earlier ones. Null until something is chosen. */
            recordId: string | null;
            /** Format: int64 */
            version: number | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_DiscoveredView: {
            data: components["schemas"]["ToolView"][];
            /** @description Operations that cannot be tools. */
            skipped: components["schemas"]["SkippedView"][];
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_EndedView: {
            ended: boolean;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_EndpointView: (components["schemas"]["EntryHead"] & {
            /** @example 127.0.0.1 */
            host: string;
            /**
             * Format: int32
             * @example 11434
             */
            port: number;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ExportView: {
            /** @description The one conversation it holds, with those it was forked from; null for everything. */
            conversationId: string | null;
            /**
             * @description Up to where on the timeline it goes.
             * @example 0.42
             */
            cursor: string;
            /** @example /api/v1/exports/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            downloadUrl: string;
            /**
             * @description The operation that made it.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            id: string;
            /**
             * @description Whether a download needs a passphrase, to seal the values of secrets with.
             * @example false
             */
            withSecrets: boolean;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_FrameView: {
            /**
             * @description `user_…` for the owner, `entity_…` for an actor.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            actorId: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            conversationId: string;
            /** @description Where they stand in it: what they wrote or turned to last; null when that is nothing yet. */
            headNodeId: string | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_GrantView: {
            adminId: string;
            createdAt: string;
            endedAt: string | null;
            /**
             * @description To be sent as `Skein-Grant`.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            id: string;
            /** @example ticket 42 */
            name: string;
            ownerId: string;
            reason: string;
            until: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_GrownView: {
            affectedTurns: components["schemas"]["AffectedTurnView"][];
            node: components["schemas"]["NodeView"];
            turn: components["schemas"]["TurnView"] | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ImportView: {
            /**
             * Format: int64
             * @description Items that were not there.
             * @example 120
             */
            added: number;
            /**
             * Format: int64
             * @description Blobs that were not there.
             * @example 2
             */
            blobs: number;
            /**
             * @description Whose things came in.
             * @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            ownerId: string;
            /**
             * Format: int64
             * @description Secrets that got their value from the bundle.
             * @example 0
             */
            secretValues: number;
            /**
             * Format: int64
             * @description Secrets of the owner's that have no value here; replace it before a tool uses them.
             * @example 0
             */
            secretsWithoutValue: number;
            /**
             * Format: int64
             * @description Items that were.
             * @example 0
             */
            skipped: number;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ItemView: {
            /** @example Note */
            _type: string;
            /**
             * @description When it happened, corrections applied.
             * @example 2026-11-15T09:30:00.000Z
             */
            canonicalAt: string;
            /**
             * @description Its place on the timeline.
             * @example 0.42
             */
            cursor: string;
            /** @description What is stated; null when it was destroyed, or is no document. */
            data: Record<string, unknown> | null;
            hash: string;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            payloadHash: string;
            /**
             * @description When it was recorded.
             * @example 2026-11-15T09:30:00.000Z
             */
            realizedAt: string;
            /** @description True when the payload was destroyed. */
            redacted?: boolean;
            /** @description The tombstone that hides it from listings. */
            supersededBy?: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_KeyView: {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the key stops working; null for a key that works until it is revoked.
             * @example 2027-02-15T09:30:00.000Z
             */
            expiresAt: string | null;
            /** @example key_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description Whether `expiresAt` has passed. */
            isExpired: boolean;
            /**
             * @description The key itself; a replay leaves it out.
             * @example sk_…
             */
            key?: string;
            /** @description To the minute. */
            lastUsedAt: string | null;
            /** @example laptop */
            name: string;
            revokedAt: string | null;
            /**
             * @description read, write or admin; each includes the ones before it.
             * @example write
             */
            scope: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_OperationView: {
            createdAt: string;
            /** @description What went wrong, once it has failed. */
            error?: unknown;
            /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example item.append */
            kind: string;
            /**
             * Format: int64
             * @description Percent done.
             * @example 100
             */
            progress: number;
            /** @description What came out, once it is completed: references to what was made, or a report. */
            result?: unknown;
            /**
             * @description queued, processing, completed, failed or cancelled.
             * @example completed
             */
            status: string;
            updatedAt: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ProcessView: (components["schemas"]["ProcessFields"] & {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description To base a change on. */
            hash: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            /** @example 2026-11-15T09:30:00.000Z */
            updatedAt: string;
            /**
             * Format: int64
             * @description Grows with each change; runs and answers say which one they followed.
             * @example 1
             */
            version: number;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ProjectView: (components["schemas"]["EntryHead"] & components["schemas"]["ProjectFields"]) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_RebuildView: {
            /**
             * @description Where the timeline ended when that was asked for: it is done when `caughtUp` is true.
             * @example 12.345
             */
            end: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_RecordView: {
            /** @example Setting */
            _type: string;
            createdAt: string;
            data: Record<string, unknown>;
            hash: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            ownerId: string;
            previousHash: string | null;
            shared: boolean;
            updatedAt: string;
            /**
             * Format: int64
             * @example 3
             */
            version: number;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_RedactedView: (components["schemas"]["ItemView"] & {
            /**
             * @description Other things of the owner that have the words, at most 200. Redact them, too, if they are to go. Texts of 16 bytes and more
             *     are looked for everywhere; shorter ones in the conversation and in what was forked from it.
             */
            quotedIn: components["schemas"]["QuoteView"][];
            /** @description Whether there are more than are listed. Redact these, then look for the others with a search. */
            quotedInMore: boolean;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_RelationView: {
            /**
             * Format: double
             * @description How sure an inference is, from 0 to 1; null when the edge was stated.
             */
            confidence: number | null;
            createdAt: string;
            /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example derived_from */
            kind: string;
            metadata: Record<string, unknown>;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            source: string;
            /** @example item */
            sourceType: string;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y60 */
            target: string;
            /** @example item */
            targetType: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ReviewView: {
            /**
             * @description By `kind`: `call` or `wish` (approve a tool call), `process` (approve a nested execution), `answer` (answer a question),
             *     `unknown` or `unknownProcess` (decide about a call or a nested execution whose end nobody saw). `inputs` are complete.
             *     `toolVersion` is there where the step names one.
             */
            asked: Record<string, unknown>;
            askedBy: components["schemas"]["PersonView"] | null;
            /** @description Name of the process that the step would run, where `asked.kind` is `process` or `unknownProcess`. */
            calledProcessName: string | null;
            createdAt: string;
            decidedBy: components["schemas"]["PersonView"] | null;
            decision: Record<string, unknown> | null;
            delegate: components["schemas"]["PersonView"] | null;
            endedAt: string | null;
            /** @description The run that waits; nothing for whoever decides in its owner's place. */
            executionId: string | null;
            expiresAt: string | null;
            /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            processName: string;
            /**
             * @description open, decided, expired or withdrawn.
             * @example open
             */
            status: string;
            stepId: string;
            /** @description What the tool is called, where you decide in its owner's place and may not see it. */
            toolName: string | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SecretView: (components["schemas"]["EntryHead"] & components["schemas"]["SecretFields"] & {
            /** @description Its owner once more: a secret belongs to one user. */
            userId: string;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ServiceTemplateView: (components["schemas"]["EntryHead"] & components["schemas"]["ServiceTemplateFields"]) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ServiceView: (components["schemas"]["EntryHead"] & components["schemas"]["ServiceFields"] & components["schemas"]["VitalView"]) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SettingView: {
            default: unknown;
            description: string;
            /** @description To base a change on; null while nobody changed it. */
            hash: string | null;
            /**
             * Format: int64
             * @description Of a number.
             */
            max: number | null;
            /**
             * Format: int64
             * @description Of a number.
             */
            min: number | null;
            /** @example operations.keptDays */
            name: string;
            /** @description A whole number, or the id of a tool, or null for none. */
            value: unknown;
            /** Format: int64 */
            version: number | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SharedServiceView: (components["schemas"]["ServiceView"] & {
            warning?: components["schemas"]["WarningView"];
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SharedToolView: (components["schemas"]["ToolView"] & {
            warning?: components["schemas"]["WarningView"];
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SignInLinkView: {
            /** @example 2026-11-15T09:30:00.000Z */
            expiresAt: string;
            /**
             * @description Told once: a replay leaves it out.
             * @example http://127.0.0.1:7420/sign-in/sl_…
             */
            url?: string;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_SummaryView: {
            /** @description The item that keeps it, where it was just made. */
            itemId: string | null;
            /**
             * @description What made it.
             * @example skein-offline-1
             */
            model: string | null;
            /**
             * Format: int64
             * @description How many nodes the conversation had then.
             */
            nodes: number | null;
            /**
             * @description The node or the conversation.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            subjectId: string;
            /** @description Null where there is nothing to say, or what was said was destroyed. */
            text: string | null;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_TaggedNodeView: (components["schemas"]["NodeView"] & {
            tags: string[];
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ToolTemplateView: (components["schemas"]["EntryHead"] & components["schemas"]["ToolTemplateFields"]) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_ToolView: (components["schemas"]["EntryHead"] & components["schemas"]["ToolFields"] & components["schemas"]["VitalView"] & {
            /**
             * @description Whether the model it asks is sent images: `acceptsImages` of its operation, else true for known families of models.
             *     Other models are sent the alternative text.
             */
            acceptsImages: boolean;
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_UserView: {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description To base a change on. */
            hash: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example anna */
            name: string;
            /**
             * @description user or admin.
             * @example user
             */
            role: string;
            /** @description Signs the new user in, once; told once. */
            signInLink?: components["schemas"]["SignInLinkView"];
            /**
             * Format: int64
             * @example 1
             */
            version: number;
        } & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description What every change answers with: the thing it made or changed, and as what it is on record. */
        Mutated_WholeExecutionView: (components["schemas"]["ExecutionView"] & {
            /** @description Every call of its own, in the order they were made. */
            calls: components["schemas"]["CallView"][];
            children: components["schemas"]["WholeExecutionView"][];
            cost: components["schemas"]["SpendingView"] | null;
            reviewIds: string[];
            steps: components["schemas"]["StepView"][];
            /** @description Of the outermost run: all that happened in it and in those it started, in order. */
            timeline?: components["schemas"]["MomentView"][];
        }) & {
            /**
             * @description The operation this change is on record as.
             * @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            operationId: string;
        };
        /** @description A process by its name. */
        NamedProcessView: {
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example Chat */
            name: string;
        };
        /**
         * @example {
         *       "name": "ticket 42",
         *       "ownerId": "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
         *       "reason": "Anna asked me to look for a lost note",
         *       "until": "2026-11-16T09:30:00.000Z"
         *     }
         */
        NewGrantBody: {
            name: string;
            /** @description Whose things are to be seen. */
            ownerId: string;
            reason: string;
            /**
             * Format: date-time
             * @description At most thirty days from now.
             */
            until: string;
        };
        NewItemBody: {
            /**
             * @description CamelCase, such as `Note`.
             * @example Note
             */
            _type: string;
            /**
             * Format: date-time
             * @description When it happened, if not now.
             * @example 2026-11-14T18:00:00.000Z
             */
            canonicalAt?: string | null;
            /** @description What is stated, up to 1 MiB. */
            data: Record<string, unknown>;
        };
        /**
         * @example {
         *       "name": "laptop",
         *       "scope": "write"
         *     }
         */
        NewKeyBody: {
            /**
             * Format: date-time
             * @description When the key stops working: a time in the future, for example `2027-02-15T09:30:00.000Z`. Default: never. A key made
             *     with a key that expires has to expire by then.
             */
            expiresAt?: string | null;
            name: string;
            /** @description read, write or admin. */
            scope: string;
        };
        /**
         * @example {
         *       "kind": "derived_from",
         *       "source": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y60",
         *       "target": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        NewRelationBody: {
            /** Format: double */
            confidence?: number | null;
            /**
             * @description `triggers`, `replies_to`, `supercedes`, `derived_from`, `mentions`, `linked_with` and others; `continues` is made by
             *     reopening a conversation alone (422). A second one where the kind allows one is 409.
             */
            kind: string;
            metadata?: Record<string, unknown> | null;
            /** @description `item_…` or `entity_…`: it exists, is yours to see and of its type, else 422. Of `groups_with` a conversation. */
            source: string;
            /** @description item, entity or log (a conversation). Default: by the id, item or entity. Fragments and artifacts do not exist yet (422). */
            sourceType?: string | null;
            /** @description As `source`. Of `groups_with` a project. */
            target: string;
            /** @description As `sourceType`. */
            targetType?: string | null;
        };
        /**
         * @example {
         *       "name": "anna",
         *       "role": "user"
         *     }
         */
        NewUserBody: {
            name: string;
            /** @description user or admin. */
            role: string;
        };
        /** @description What was said at a turn, or a remark beside it, as its owner's path sees it. */
        NodeView: {
            authorId: string;
            /**
             * @description human, model, system or imported.
             * @example human
             */
            authorType: string;
            bookmarked: boolean;
            /**
             * @description valid, stale or generating: whether it answers what is selected above it.
             * @example valid
             */
            cacheStatus: string;
            /** @description What it says; null while it is generated, when that failed, and once it was destroyed. */
            content: {
                [key: string]: unknown;
            } | null;
            contentHash: string | null;
            conversationId: string;
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /**
             * Format: int64
             * @description How many turns lead here, this one included; the root has 1.
             */
            depth: number | null;
            /** @description The node it was edited from. */
            editedFrom: string | null;
            /**
             * @description The episode that remembers it; null until it is made, and in answers to changes, which do not wait for it.
             * @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            episodeId: string | null;
            /** @description Whether models are not shown it. */
            excluded: boolean;
            executedBy: components["schemas"]["ExecutedByView"] | null;
            hasChildren: boolean;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description Whether it is what its turn shows. */
            isActive: boolean;
            /** @description Whether what it said was destroyed. */
            isRedacted: boolean;
            /** @description The label of the bookmark. */
            label: string | null;
            /**
             * @description Its short name inside its conversation.
             * @example 01K9ZQ
             */
            localId: string;
            /** @description Whether it and everything it descends from is what its turn shows. */
            onPath: boolean;
            /**
             * Format: int64
             * @description The how many-th alternative of its turn it is.
             */
            ordinal: number | null;
            /** @description The node it answers; null at the root. */
            parentAlternativeId: string | null;
            /** @description Whether it was cut off, with all that follows it. */
            pruned: boolean;
            /** @description user, agent or system. */
            speaker: string | null;
            /**
             * @description pending, complete or failed.
             * @example complete
             */
            status: string;
            /** @description Null for a remark, which stands beside the turns. */
            turnId: string | null;
            /** @description message, `tool_result` or summary. */
            turnType: string | null;
        };
        NodesView: {
            /**
             * @description words, lines or whole: the smallest pieces that were compared everywhere.
             * @example words
             */
            precision: string;
            /** @description Equal and removed runs make up the old text, equal and added the new. */
            runs: components["schemas"]["RunView"][];
        };
        OfferFields: {
            /** @description `never`, `always` or `once`. Default: approval, unless the call only reads and no argument names an address. */
            approval?: string | null;
            toolId: string;
            /**
             * Format: int64
             * @description As with a step's own tool.
             */
            toolVersion?: number | null;
        };
        OfferLimitsFields: {
            /** Format: int32 */
            calls?: number | null;
            cost?: components["schemas"]["CostLimitFields"] | null;
            /** Format: int32 */
            rounds?: number | null;
            /** Format: int32 */
            seconds?: number | null;
            /** Format: int64 */
            tokens?: number | null;
        };
        /** @description A tool as a model is offered it. */
        OfferedToolView: {
            description: string;
            name: string;
            /** @description JSON Schema of its arguments. */
            parameters: unknown;
        };
        /** @description What a change is on record as, and how far work has come. */
        OperationView: {
            createdAt: string;
            /** @description What went wrong, once it has failed. */
            error?: unknown;
            /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example item.append */
            kind: string;
            /**
             * Format: int64
             * @description Percent done.
             * @example 100
             */
            progress: number;
            /** @description What came out, once it is completed: references to what was made, or a report. */
            result?: unknown;
            /**
             * @description queued, processing, completed, failed or cancelled.
             * @example completed
             */
            status: string;
            updatedAt: string;
        };
        /** @description What the index holds of one owner, and what it does not know yet. */
        OwnerIndexView: {
            /** Format: int64 */
            episodes: number;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            /**
             * Format: int64
             * @description Things said or brought that are not in the index yet, among the items that are counted.
             */
            waiting: number;
            /** Format: int64 */
            withVector: number;
        };
        Pagination: {
            /**
             * @description How many entries a page has at most.
             * @example 100
             */
            limit: number;
            /** @description Where the next page begins; null on the last. */
            next: string | null;
            /** @description Where the page before begins, in listings that can be walked back. */
            prev: string | null;
        };
        /** @description Parameters of a request, from the tool, the step and the actor that answers. */
        ParametersView: {
            /** @description Further fields of the request, in the provider's words. */
            customParameters: Record<string, unknown>;
            /**
             * Format: int64
             * @description Null: the provider's default. Anthropic's API wants a limit and is sent 4096 unless there is another.
             */
            maxTokens: number | null;
            model: string;
            /** @description The form of the answer, in the provider's words. Null: text. */
            responseFormat: Record<string, unknown> | null;
            stopSequences: string[];
            /**
             * Format: double
             * @description Null: the provider's default.
             */
            temperature: number | null;
        };
        /** @description One part of a window. */
        PartView: {
            /** @description excluded, pruned, annotation, empty, onPath, originNotShown, bufferMode or overBudget. */
            droppedBecause: string | null;
            /** @description Its images, and how each would be sent. */
            images?: components["schemas"]["ImageView"][];
            included: boolean;
            /**
             * @description agentPrompt, systemContext, instruction, context, node, folded or marker.
             * @example node
             */
            kind: string;
            nodeId: string | null;
            /** @description Why something remembered was offered; `pinned` for a node that is. */
            reason: string | null;
            tokens: number;
        };
        /** @description What each way of finding gave, in standard deviations above what could be seen, weighted. */
        PartsView: {
            /**
             * Format: float
             * @description Words like those asked for.
             */
            likeness: number;
            /** Format: float */
            meaning: number;
            /**
             * Format: float
             * @description What was said beside it.
             */
            neighbours: number;
            /** Format: float */
            recency: number;
            /**
             * Format: float
             * @description The cosine with the question itself.
             */
            similarity: number | null;
            /**
             * Format: float
             * @description It was said by somebody the question names.
             */
            speaker: number;
            /** Format: float */
            words: number;
        };
        PathsView: {
            /** @description How many nodes both have, from the root on. */
            commonNodes: number;
            lastCommonNodeId: string | null;
            left: components["schemas"]["ApartView"];
            right: components["schemas"]["ApartView"];
        };
        /**
         * @description Whether a run is to be paused, or to go on.
         * @example {
         *       "paused": true
         *     }
         */
        PausedBody: {
            paused: boolean;
        };
        /**
         * @description What an actor may do to trees and documents. None of it has an effect yet, so only the default is accepted: all true for
         *     people, all false for others.
         */
        PermissionFields: {
            docRead?: boolean | null;
            docWrite?: boolean | null;
            loomAware?: boolean | null;
            loomGenerate?: boolean | null;
            loomWrite?: boolean | null;
        };
        /** @description A user as others know them. */
        PersonView: {
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example Ben */
            name: string;
        };
        /** @description What calls of a tool cost, in units of the currency; what is not given is not known. */
        PricingFields: {
            /**
             * Format: double
             * @description For a million of those that the provider had kept from earlier.
             * @example 0.25
             */
            cachedInputPerMillion?: number | null;
            /** @example USD */
            currency: string;
            /**
             * Format: double
             * @description For a million tokens that the provider reads.
             * @example 2.5
             */
            inputPerMillion?: number | null;
            /**
             * Format: double
             * @description For a million tokens that the model writes.
             * @example 10
             */
            outputPerMillion?: number | null;
            /**
             * Format: double
             * @description For each call that is answered, besides its tokens.
             * @example 0
             */
            perCall?: number | null;
        };
        /**
         * @example {
         *       "initialContext": [
         *         "place"
         *       ],
         *       "name": "Count the herons",
         *       "outputTemplate": "{{count}}",
         *       "steps": [
         *         {
         *           "ask": {
         *             "prompt": "How many herons are at {place}?",
         *             "schema": {
         *               "type": "integer"
         *             }
         *           },
         *           "id": "ask",
         *           "output": {
         *             "variable": "count"
         *           }
         *         }
         *       ]
         *     }
         */
        ProcessBody: {
            description?: string | null;
            enabled?: boolean | null;
            /** @description A list of names, or a JSON Schema of an object; none unless it is said. */
            initialContext?: unknown;
            /**
             * Format: int32
             * @description 3 unless it is said.
             */
            maxRecursionDepth?: number | null;
            name: string;
            outputTemplate: string;
            steps: components["schemas"]["StepFields"][];
            /** Format: int64 */
            tokenBudget?: number | null;
        };
        /**
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "enabled": false
         *     }
         */
        ProcessChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            description?: string | null;
            enabled?: boolean | null;
            initialContext?: unknown;
            /** Format: int32 */
            maxRecursionDepth?: number | null;
            name?: string | null;
            outputTemplate?: string | null;
            steps?: components["schemas"]["StepFields"][] | null;
            /** Format: int64 */
            tokenBudget?: number | null;
        };
        ProcessFields: {
            /** @description Kept for what it has done, not run unless it is restored. */
            archived: boolean;
            /**
             * Format: int32
             * @description Grows with each change of what the process does.
             */
            definitionVersion: number;
            description?: string;
            enabled: boolean;
            /** @description The variables it is started with: a list of names, or a JSON Schema of an object. */
            initialContext: unknown;
            /**
             * Format: int32
             * @description How deep processes call processes.
             */
            maxRecursionDepth: number;
            /** @example Count the herons */
            name: string;
            /** @description What it answers, in Handlebars: `{{x}}` is the variable of a step or of the initialContext. */
            outputTemplate: string;
            steps: components["schemas"]["StepFields"][];
            /** Format: int64 */
            tokenBudget?: number;
        };
        /** @description How a process would fare if it were run now. */
        ProcessHealthView: {
            /** @example 2026-11-15T09:30:00.000Z */
            checkedAt: string;
            /** @description In the order of the steps. */
            dependencies: components["schemas"]["DependencyView"][];
            /** @description What is wrong with the process itself. */
            reasons: string[];
            /**
             * @description healthy, warning or error: as the worst of what it depends on.
             * @example warning
             */
            status: string;
        };
        /** @description How work is done, as data; its owner's alone. */
        ProcessView: components["schemas"]["ProcessFields"] & {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description To base a change on. */
            hash: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            /** @example 2026-11-15T09:30:00.000Z */
            updatedAt: string;
            /**
             * Format: int64
             * @description Grows with each change; runs and answers say which one they followed.
             * @example 1
             */
            version: number;
        };
        /** @description The `data` of `operation.progress`, which has no `id` and is not told again. */
        ProgressView: {
            operationId: string;
            /**
             * Format: int64
             * @description Percent done.
             * @example 40
             */
            progress: number;
        };
        /**
         * @example {
         *       "description": "What we know about them.",
         *       "name": "Herons of the lake"
         *     }
         */
        ProjectBody: {
            description?: string | null;
            name: string;
        };
        /**
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "description": null,
         *       "name": "Herons"
         *     }
         */
        ProjectChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            /** @description Null takes it away. */
            description?: string | null;
            name?: string | null;
        };
        ProjectFields: {
            description?: string;
            /** @description Whether new conversations go here when nothing else is said. */
            isDefault: boolean;
            /** @example My project */
            name: string;
        };
        /** @description What a person works in. */
        ProjectView: components["schemas"]["EntryHead"] & components["schemas"]["ProjectFields"];
        /** @description Where a node comes from. */
        ProvenanceView: components["schemas"]["Listing_ChainLinkView"] & {
            /** @description Every node made by editing this one, or that it was made from by editing, oldest first. */
            editLineage: string[];
        };
        /**
         * @example {
         *       "confidence": 0.8,
         *       "metadata": {
         *         "note": "looked at again"
         *       }
         *     }
         */
        QualitiesBody: {
            /** Format: double */
            confidence?: number | null;
            metadata: Record<string, unknown>;
        };
        /** @description What waits to be done. */
        QueueView: {
            /**
             * Format: int64
             * @description How many calls of your runs wait for a worker; of each kind 1,000 are counted at most.
             */
            waiting: number;
        };
        /** @description Something that has words which were destroyed elsewhere. */
        QuoteView: {
            /** @description The conversation it stands in, if it stands in one. */
            conversationId: string | null;
            /** @description Which field of the conversation: title, description, systemContext or summary. */
            field: string | null;
            /**
             * @description The item to redact; null for a field of a conversation.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            itemId: string | null;
            /**
             * @description `node` is a message and `foldSummary` the summary of a folded conversation; `item` is a note or what was imported.
             *     `conversation` is a field of a conversation, which can be changed; its history keeps the earlier text.
             * @example foldSummary
             */
            kind: string;
        };
        RawResponseView: {
            /** @description SHA-256 of headers, a blank line and the body. */
            hash: string;
            itemId: string;
        };
        /**
         * @description How the index is built again.
         * @example {
         *       "anew": false
         *     }
         */
        RebuildBody: {
            /**
             * @description Whether the vectors that the configured embedder made are thrown away too, and all are asked for again: for when another
             *     model answers under the same name.
             */
            anew?: boolean;
        };
        /** @description An index that is being built again. */
        RebuildView: {
            /**
             * @description Where the timeline ended when that was asked for: it is done when `caughtUp` is true.
             * @example 12.345
             */
            end: string;
        };
        /** @description What two versions disagree about. */
        RecordDiffView: {
            changes: components["schemas"]["ChangeView"][];
            /** Format: int64 */
            from: number;
            /** Format: int64 */
            to: number;
        };
        /** @description A belief in one of its states. */
        RecordView: {
            /** @example Setting */
            _type: string;
            createdAt: string;
            data: Record<string, unknown>;
            hash: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            ownerId: string;
            previousHash: string | null;
            shared: boolean;
            updatedAt: string;
            /**
             * Format: int64
             * @example 3
             */
            version: number;
        };
        /**
         * @example {
         *       "reason": "asked for by the person it is about"
         *     }
         */
        RedactBody: {
            /** @description Why the payload must go. */
            reason: string;
        };
        /** @description A fact whose payload was destroyed, and what else has its words. */
        RedactedView: components["schemas"]["ItemView"] & {
            /**
             * @description Other things of the owner that have the words, at most 200. Redact them, too, if they are to go. Texts of 16 bytes and more
             *     are looked for everywhere; shorter ones in the conversation and in what was forked from it.
             */
            quotedIn: components["schemas"]["QuoteView"][];
            /** @description Whether there are more than are listed. Redact these, then look for the others with a search. */
            quotedInMore: boolean;
        };
        /** @description Why nothing would be sent. */
        RefusalView: {
            /** @example llm_unsupported */
            code: string;
            message: string;
        };
        /**
         * @description How an answer is made again.
         * @example {
         *       "makeActive": true
         *     }
         */
        RegenerateBody: {
            /**
             * @description Whether the turn shows it from now on.
             * @default false
             */
            makeActive?: boolean;
            /**
             * @description The node of the turn before that it answers. Default: the one that turn shows.
             * @default null
             */
            parentAlternativeId?: string | null;
            /**
             * @description How many.
             * @default null
             */
            samples?: number | null;
        };
        /** @description A typed edge between two things. */
        RelationView: {
            /**
             * Format: double
             * @description How sure an inference is, from 0 to 1; null when the edge was stated.
             */
            confidence: number | null;
            createdAt: string;
            /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example derived_from */
            kind: string;
            metadata: Record<string, unknown>;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            source: string;
            /** @example item */
            sourceType: string;
            /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y60 */
            target: string;
            /** @example item */
            targetType: string;
        };
        /** @description A request as a provider is sent it first. Where the provider refuses the name of a field, Skein asks again by another. */
        RequestView: {
            /** @description The body; the data of images replaced by `sha256:` and their hash. */
            body: Record<string, unknown>;
            /**
             * @description Behind the address of the service; null for the built-in model, which nothing is sent to.
             * @example /chat/completions
             */
            path: string | null;
        };
        /**
         * @description Which state of a record to take up again.
         * @example {
         *       "version": 2
         *     }
         */
        RestoreBody: {
            /**
             * @description The hash of the state you looked at; with another one now, nothing is done.
             * @default null
             */
            basedOnHash?: string | null;
            /**
             * Format: int64
             * @description A version, from 1; without it, the one before the last change.
             * @default null
             */
            version?: number | null;
        };
        /** @description What came of a call. */
        ResultView: {
            /** @description An item of type `ToolResult`. */
            id: string;
            /** @description Status, output or error, how long it took, and what it used; empty once it was destroyed. */
            result: {
                [key: string]: unknown;
            };
            returnedAt: string;
        };
        /** @description The `data` of `resync`: too much happened since, read the state anew and go on from here. */
        ResyncView: {
            /** @example 0.42 */
            cursor: string;
        };
        RetryFields: {
            /**
             * @description fixed or exponential.
             * @example fixed
             */
            backoff?: string | null;
            /** Format: int32 */
            backoffMs?: number | null;
            /** Format: int32 */
            maxRetries: number;
        };
        ReviewFields: {
            /** @description The answer when onExpire is default. It must satisfy ask.schema. A required output that stays empty fails the step. */
            default?: unknown;
            /**
             * Format: int64
             * @description In seconds; without it the step waits for as long as it takes.
             */
            expiresAfter?: number | null;
            /**
             * @description fail, default or skip.
             * @example fail
             */
            onExpire?: string | null;
        };
        /** @description A question to a person. */
        ReviewView: {
            /**
             * @description By `kind`: `call` or `wish` (approve a tool call), `process` (approve a nested execution), `answer` (answer a question),
             *     `unknown` or `unknownProcess` (decide about a call or a nested execution whose end nobody saw). `inputs` are complete.
             *     `toolVersion` is there where the step names one.
             */
            asked: Record<string, unknown>;
            askedBy: components["schemas"]["PersonView"] | null;
            /** @description Name of the process that the step would run, where `asked.kind` is `process` or `unknownProcess`. */
            calledProcessName: string | null;
            createdAt: string;
            decidedBy: components["schemas"]["PersonView"] | null;
            decision: Record<string, unknown> | null;
            delegate: components["schemas"]["PersonView"] | null;
            endedAt: string | null;
            /** @description The run that waits; nothing for whoever decides in its owner's place. */
            executionId: string | null;
            expiresAt: string | null;
            /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            processName: string;
            /**
             * @description open, decided, expired or withdrawn.
             * @example open
             */
            status: string;
            stepId: string;
            /** @description What the tool is called, where you decide in its owner's place and may not see it. */
            toolName: string | null;
        };
        /** @description A stretch of text that both have, or one of them. */
        RunView: {
            /**
             * @description equal, added or removed.
             * @example added
             */
            kind: string;
            text: string;
        };
        /**
         * @description What to look for, and from where; nothing is changed by it, so it needs no key of its own.
         * @example {
         *       "limit": 20,
         *       "text": "herons of the lake"
         *     }
         */
        SearchBody: {
            /** @description Only what one of these said. */
            actorIds?: string[];
            /** @description Whether branches that no path shows are searched too; `searched.allBranches` says if they were. */
            allBranches?: boolean;
            /** @description What the answer would have been then: only what had been said by that moment. */
            asOf?: string | null;
            /**
             * @description The answer is to know everything up to this cursor (`Skein-Cursor` of a change), or with `latest` all that was said so
             *     far; it is waited for up to two seconds, and `searched.indexBehind` says if that was not enough.
             * @example latest
             */
            atLeast?: string | null;
            /** @description The conversation you stand in, where its owner stands, unless a node is named. */
            conversationId?: string | null;
            /** @description Where the last page ended: its `pagination.next`. */
            cursor?: string | null;
            /** @description Whether the path you stand on is left out. */
            elsewhere?: boolean;
            /**
             * @description Only what was said then or later.
             * @example 2026-01-01T00:00:00.000Z
             */
            from?: string | null;
            /** @description Only what had become known here by that moment, whenever it was said. */
            knownAt?: string | null;
            /**
             * @description Results per page, 1 to 100.
             * @example 20
             */
            limit?: number;
            /** @description The node you stand at: the path that leads to it is searched, and the main paths of other conversations. */
            nodeId?: string | null;
            /** @description Only what was said in a conversation of this project. */
            projectId?: string | null;
            /** @description Whether what was said lately is preferred. */
            recent?: boolean;
            /** @description Only what is of one of these kinds: message, text, json, summary, introspection. */
            sources?: string[];
            /** @description Whether what merely stands beside something that was found is left out. */
            strict?: boolean;
            /**
             * @description Plain words, in any case and any language: what means the same is found too. Nothing in them is syntax.
             * @example herons of the lake
             */
            text: string;
            /**
             * @description Only what was said then or earlier.
             * @example 2027-01-01T00:00:00.000Z
             */
            until?: string | null;
            /** @description Only what was said in one of these conversations. */
            within?: string[];
        };
        /** @description What an answer covers. */
        SearchedView: {
            /** @description Whether branches that no path shows were searched too; without an index they are not. */
            allBranches: boolean;
            asOf: string | null;
            /**
             * @description `index`, or `words` where there is no index or it is being built again.
             * @example index
             */
            by: string;
            /** @description Whether it was also looked for by meaning. */
            byMeaning: boolean;
            /** @description Where the question was asked; null searches all main paths. */
            conversationId: string | null;
            /** @description Whether there is more than that already. */
            indexBehind: boolean;
            /**
             * @description The answer knows everything up to here.
             * @example 12.345
             */
            indexCursor: string;
            knownAt: string | null;
            /** @description The end of the path it was asked on. */
            nodeId: string | null;
            /**
             * Format: int32
             * @description How many episodes could be seen at all.
             */
            visible: number | null;
            /** @description Why it was not: `no_index`, `nothing_to_embed`, `embedder_failed` or `embedder_gone`, whose vectors the index still has. */
            withoutMeaning: string | null;
        };
        /**
         * @example {
         *       "name": "Weather key",
         *       "type": "api_key",
         *       "value": "k-7f9c24e53b1a"
         *     }
         */
        SecretBody: {
            description?: string | null;
            name: string;
            /** @description Without effect: a secret is its owner's alone. */
            shared?: boolean | null;
            /** @description `api_key`, `oauth_token`, password or certificate. */
            type: string;
            /**
             * @description Text for an API key; {username, password}; {accessToken, refreshToken, tokenUrl, clientId, clientSecret, scope};
             *     {certificate, privateKey, ca} in PEM.
             */
            value: unknown;
        };
        /**
         * @example {
         *       "value": "k-0d6f0a1b2c3d"
         *     }
         */
        SecretChangeBody: {
            /** @description The hash of the state you looked at; without one the change is made whatever it is now. */
            basedOnHash?: string | null;
            description?: string | null;
            name?: string | null;
            /** @description Takes the place of the value before, which is destroyed. */
            value?: unknown;
        };
        SecretFields: {
            description?: string;
            /** @example Weather key */
            name: string;
            /**
             * @description `api_key`, `oauth_token`, password or certificate.
             * @example api_key
             */
            type: string;
            /**
             * Format: int32
             * @description Which value the vault holds: 1 at first, one more with each rotation.
             * @example 1
             */
            valueVersion: number;
        };
        /** @description A credential by name; its value is in the vault and comes out only to be used. */
        SecretView: components["schemas"]["EntryHead"] & components["schemas"]["SecretFields"] & {
            /** @description Its owner once more: a secret belongs to one user. */
            userId: string;
        };
        /**
         * @description In full, or by a template: then type, protocol, connectionSchema and requiresSecret are left out.
         * @example {
         *       "connectionSchema": {
         *         "properties": {
         *           "endpoint": {
         *             "type": "string"
         *           }
         *         },
         *         "required": [
         *           "endpoint"
         *         ],
         *         "type": "object"
         *       },
         *       "name": "Weather",
         *       "protocol": "https",
         *       "requiresSecret": true,
         *       "type": "rest_api"
         *     }
         */
        ServiceBody: {
            connectionSchema?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            enabled?: boolean | null;
            name: string;
            protocol?: string | null;
            requiresSecret?: boolean | null;
            serviceTemplateId?: string | null;
            shared?: boolean | null;
            /** @description `neo4j_graph`, `rest_api`, `llm_provider` or `mcp_server`. */
            type?: string | null;
        };
        /**
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "enabled": false
         *     }
         */
        ServiceChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            connectionSchema?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            enabled?: boolean | null;
            name?: string | null;
        };
        ServiceFields: {
            /** @description What Skein brings along itself: `offline_model`. */
            builtin?: string;
            /** @description A JSON Schema, draft-07 to 2020-12, of what a tool's connectionParams hold. */
            connectionSchema: {
                [key: string]: unknown;
            };
            description?: string;
            enabled: boolean;
            /** @example Weather */
            name: string;
            /**
             * @description bolt or bolt+s, http or https, stdio or sse, by type.
             * @example https
             */
            protocol: string;
            requiresSecret: boolean;
            /**
             * Format: int32
             * @description Grows with each change of connectionSchema.
             */
            schemaVersion: number;
            /** @description Which template it was made from. */
            serviceTemplateId?: string;
            /**
             * @description `neo4j_graph`, `rest_api`, `llm_provider` or `mcp_server`.
             * @example rest_api
             */
            type: string;
        };
        /** @description The service and the model that an actor answers as. */
        ServiceModelFields: {
            /**
             * @description Left out where the provider's default is asked.
             * @example gpt-4o
             */
            model?: string;
            /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            serviceId: string;
        };
        /**
         * @example {
         *       "connectionSchema": {
         *         "properties": {
         *           "endpoint": {
         *             "type": "string"
         *           }
         *         },
         *         "required": [
         *           "endpoint"
         *         ],
         *         "type": "object"
         *       },
         *       "name": "Weather service",
         *       "protocol": "https",
         *       "type": "rest_api"
         *     }
         */
        ServiceTemplateBody: {
            connectionSchema: {
                [key: string]: unknown;
            };
            description?: string | null;
            name: string;
            protocol: string;
            requiresSecret?: boolean | null;
            shared?: boolean | null;
            type: string;
        };
        ServiceTemplateFields: {
            /** @description Whether nothing new is made from it. */
            archived: boolean;
            connectionSchema: {
                [key: string]: unknown;
            };
            description?: string;
            name: string;
            protocol: string;
            requiresSecret: boolean;
            type: string;
        };
        /** @description A blueprint of services. */
        ServiceTemplateView: components["schemas"]["EntryHead"] & components["schemas"]["ServiceTemplateFields"];
        /** @description What an endpoint is, and what a tool has to say to reach it. */
        ServiceView: components["schemas"]["EntryHead"] & components["schemas"]["ServiceFields"] & components["schemas"]["VitalView"];
        /** @description A browser that is signed in as you. */
        SessionView: {
            /** @description Whether it is the one that asks. */
            current: boolean;
            /** @example 2026-12-15T09:30:00.000Z */
            expiresAt: string;
            /** @example session_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example 2026-11-15T09:30:00.000Z */
            startedAt: string;
        };
        /**
         * @example {
         *       "value": 14
         *     }
         */
        SettingBody: {
            /** @description The hash of the state you looked at; without one the change is made whatever it is now. */
            basedOnHash?: string | null;
            value: unknown;
        };
        /** @description A setting of the installation. */
        SettingView: {
            default: unknown;
            description: string;
            /** @description To base a change on; null while nobody changed it. */
            hash: string | null;
            /**
             * Format: int64
             * @description Of a number.
             */
            max: number | null;
            /**
             * Format: int64
             * @description Of a number.
             */
            min: number | null;
            /** @example operations.keptDays */
            name: string;
            /** @description A whole number, or the id of a tool, or null for none. */
            value: unknown;
            /** Format: int64 */
            version: number | null;
        };
        /** @description Every setting there is. */
        SettingsView: {
            data: components["schemas"]["SettingView"][];
        };
        /**
         * @description Whether others may see it from now on.
         * @example {
         *       "shared": true
         *     }
         */
        ShareBody: {
            shared: boolean;
        };
        /** @description A service after it was shared or taken back. */
        SharedServiceView: components["schemas"]["ServiceView"] & {
            warning?: components["schemas"]["WarningView"];
        };
        /** @description A tool after it was changed, shared or taken back; the warning says who loses by it. */
        SharedToolView: components["schemas"]["ToolView"] & {
            warning?: components["schemas"]["WarningView"];
        };
        /** @description A link that signs a browser in, once. */
        SignInLinkView: {
            /** @example 2026-11-15T09:30:00.000Z */
            expiresAt: string;
            /**
             * @description Told once: a replay leaves it out.
             * @example http://127.0.0.1:7420/sign-in/sl_…
             */
            url?: string;
        };
        /** @description A tree without what it says. */
        SkeletonView: {
            conversationId: string;
            /** @description Where its owner stands. */
            cursorNodeId: string | null;
            nodes: components["schemas"]["ColumnsView"];
            /** @description The turns, in the order they came up. */
            turns: string[];
        };
        SkippedView: {
            /** @example POST /uploads */
            operation: string;
            reason: string;
        };
        /** @description A node of the same conversation that led to what is said, besides the one it answers. */
        SourceBody: {
            nodeId: string;
            /**
             * @description primary, context or instruction.
             * @example context
             */
            role: string;
        };
        /** @description What an edge leads from. */
        SourceView: {
            /** @description Whether it came later, as a version of a source that was there. */
            isVersion: boolean;
            nodeId: string;
            /**
             * @description primary, context or instruction.
             * @example primary
             */
            role: string;
        };
        /** @description What is known of the cost of something. */
        SpendingView: {
            /** @description Whether every call that somebody's secret was used for has a known cost. */
            isComplete: boolean;
            /** @description For each payer and currency together. */
            owed: components["schemas"]["CostView"][];
        };
        /** @description How an alternative stands now. */
        StandingView: {
            /** @example valid */
            cacheStatus: string;
            id: string;
            isActive: boolean;
            onPath: boolean;
        };
        /** @description The answer to a run that was begun. */
        StartedExecution: {
            /**
             * @description The run; its answer can be heard at `/executions/{id}/stream`.
             * @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            executionId: string;
            /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            operationId: string;
            /** @example /api/v1/operations/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            statusUrl: string;
        };
        StepExecutionFields: {
            /** @description A JavaScript expression over variables; the step is skipped when it does not hold. */
            condition?: string | null;
            /**
             * @description auto, or manual: a person sees, may edit, and approves or denies the tool call or the nested execution before it starts.
             * @example auto
             */
            interactionMode?: string | null;
            /**
             * @description sequential or parallel.
             * @example sequential
             */
            mode?: string | null;
            /**
             * Format: int32
             * @description Longest time of a tool call or a nested execution, in seconds; then it is cancelled. Default: 300 for a tool call, none for
             *     a nested execution. Waits for people inside a nested execution count, pauses do not. Refused where the step asks a person.
             */
            timeout?: number | null;
        };
        /** @description One unit of work: exactly one of toolId, processId and ask says whom it calls. */
        StepFields: {
            /** @description Conditions on `error.code`, `error.message` and variables; one that holds after a failure ends the process. */
            abortWhen?: string[] | null;
            ask?: components["schemas"]["AskFields"] | null;
            /** @description Ids of earlier steps; a sequential step waits for those right before it, named or not. */
            dependsOn?: string[] | null;
            execution?: components["schemas"]["StepExecutionFields"] | null;
            /** @description What is run in its place when it has failed for good, step after step; the last has the same output variable. */
            fallback?: components["schemas"]["StepFields"][] | null;
            /**
             * @description Unique in its process: up to 64 letters, digits and `_-.`.
             * @example forecast
             */
            id: string;
            /** @description What the target asks for; `{x}`, `{context.x}` and `{step.x}` are places for variables. */
            inputs?: Record<string, unknown> | null;
            name?: string | null;
            output: components["schemas"]["StepOutputFields"];
            /** @description A process of yours. */
            processId?: string | null;
            retry?: components["schemas"]["RetryFields"] | null;
            review?: components["schemas"]["ReviewFields"] | null;
            /**
             * @description A tool of yours, or a shared one.
             * @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            toolId?: string | null;
            toolLimits?: components["schemas"]["OfferLimitsFields"] | null;
            /**
             * Format: int64
             * @description A version of that tool, if it is your own: the step goes on calling what it did then. Without it, what it does now.
             */
            toolVersion?: number | null;
            /** @description Tools that the model of an `llm_call` may call. */
            tools?: components["schemas"]["OfferFields"][] | null;
        };
        StepOutputFields: {
            /** @description Whether the process fails without it; true unless it is said. */
            required?: boolean | null;
            /** Format: int64 */
            tokenBudget?: number | null;
            /**
             * @description Under which later steps and the outputTemplate find the result.
             * @example forecast
             */
            variable: string;
        };
        /** @description A step of a run. */
        StepView: {
            /**
             * Format: int32
             * @description How many calls were asked for.
             */
            attempts: number;
            /** @description The last call made for it: an item of type `ToolCall`. */
            callId: string | null;
            cost: components["schemas"]["SpendingView"] | null;
            endedAt: string | null;
            error: Record<string, unknown> | null;
            id: string;
            inputs: {
                [key: string]: unknown;
            };
            output: unknown;
            /**
             * @description waiting, calling, asking, running, conversing, replaced, unknown, done, skipped, failed or cancelled.
             * @example done
             */
            phase: string;
            /** @description What a model answered, as it was received. */
            rawResponseId: string | null;
            startedAt: string | null;
            /** Format: int64 */
            tokens: number;
        };
        /** @description How much room is taken. The index is told by `GET /index`. */
        StorageView: {
            blobs: components["schemas"]["BlobAmountView"] | null;
            database: components["schemas"]["DatabaseView"];
        };
        /** @description What a node says in a sentence, or a conversation in two. */
        SummaryView: {
            /** @description The item that keeps it, where it was just made. */
            itemId: string | null;
            /**
             * @description What made it.
             * @example skein-offline-1
             */
            model: string | null;
            /**
             * Format: int64
             * @description How many nodes the conversation had then.
             */
            nodes: number | null;
            /**
             * @description The node or the conversation.
             * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            subjectId: string;
            /** @description Null where there is nothing to say, or what was said was destroyed. */
            text: string | null;
        };
        /** @description How far the vectors of another embedder are made. */
        SwitchingView: {
            /**
             * @description How far along the timeline.
             * @example 12.345
             */
            cursor: string;
            /** Format: int64 */
            episodes: number;
            /** @description Whose they are. */
            to: string;
        };
        /** @description A tag, and how many nodes have it. */
        TagView: {
            /**
             * Format: int64
             * @example 3
             */
            nodes: number;
            /** @example heron */
            tag: string;
        };
        /** @description A node with its tags. */
        TaggedNodeView: components["schemas"]["NodeView"] & {
            tags: string[];
        };
        /**
         * @example {
         *       "shared": true
         *     }
         */
        TemplateChangeBody: {
            archived?: boolean | null;
            /** @description The hash of the state you looked at; without one the change is made whatever it is now. */
            basedOnHash?: string | null;
            shared?: boolean | null;
        };
        /**
         * @example {
         *       "inputs": {
         *         "city": "Bern"
         *       }
         *     }
         */
        TestBody: {
            /** @description What the tool's inputSchema asks for. */
            inputs?: Record<string, unknown>;
        };
        /**
         * @example {
         *       "canonicalAt": "2026-11-14T18:00:00.000Z"
         *     }
         */
        TimeBody: {
            /**
             * Format: date-time
             * @description When it really happened; null withdraws a correction.
             */
            canonicalAt?: string | null;
        };
        /**
         * @description In full, or by a template: then operation, inputSchema and outputSchema are left out.
         * @example {
         *       "connectionParams": {
         *         "endpoint": "https://weather.example"
         *       },
         *       "inputSchema": {
         *         "properties": {
         *           "city": {
         *             "type": "string"
         *           }
         *         },
         *         "required": [
         *           "city"
         *         ],
         *         "type": "object"
         *       },
         *       "name": "Weather now",
         *       "operation": {
         *         "method": "GET",
         *         "path": "/now/{{city}}",
         *         "type": "rest_call"
         *       },
         *       "outputSchema": {},
         *       "serviceId": "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z"
         *     }
         */
        ToolBody: {
            connectionParams?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            enabled?: boolean | null;
            inputSchema?: unknown;
            name: string;
            operation?: {
                [key: string]: unknown;
            } | null;
            outputSchema?: unknown;
            pricing?: components["schemas"]["PricingFields"] | null;
            secretId?: string | null;
            secretUse?: unknown;
            serviceId: string;
            shared?: boolean | null;
            toolTemplateId?: string | null;
        };
        /**
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "enabled": false
         *     }
         */
        ToolChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            connectionParams?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            enabled?: boolean | null;
            inputSchema?: unknown;
            name?: string | null;
            operation?: {
                [key: string]: unknown;
            } | null;
            outputSchema?: unknown;
            pricing?: components["schemas"]["PricingFields"] | null;
            secretId?: string | null;
            secretUse?: unknown;
        };
        ToolFields: {
            /**
             * @description What the service's connectionSchema asks for. Of an `llm_call`, `model`, `temperature`, `maxTokens`, `top_p` and `seed`
             *     reach the model.
             */
            connectionParams: {
                [key: string]: unknown;
            };
            /**
             * Format: int32
             * @description Grows with each change of what the tool does.
             */
            definitionVersion: number;
            description?: string;
            enabled: boolean;
            /** @description A JSON Schema of what a caller gives. */
            inputSchema: unknown;
            /** @example Weather now */
            name: string;
            /**
             * @description A `graph_query`, `rest_call`, `llm_call` or `mcp_tool`, by the service's type. `acceptsImages` of an `llm_call` says
             *     whether its model is sent images; left out, the name of the model decides.
             */
            operation: {
                [key: string]: unknown;
            };
            /** @description A JSON Schema of what comes back. */
            outputSchema: unknown;
            pricing?: components["schemas"]["PricingFields"];
            /** @description Whose value is used when the tool is called; told to the owner alone. */
            secretId?: string;
            /** @description Where an API key goes: {"in": "header", "name": "X-Api-Key", "prefix": ""}. */
            secretUse?: unknown;
            serviceId: string;
            /** @description Which template it was made from. */
            toolTemplateId?: string;
        };
        /** @description How the tools that were asked about did. */
        ToolMetricsListing: {
            /** @description In the order they were asked for; tools that you cannot see are left out. */
            data: components["schemas"]["ToolMetricsView"][];
        };
        /** @description How one tool did in your own runs: in the last 500 of your calls of it. */
        ToolMetricsView: {
            /** @example 40 */
            calls: number;
            /**
             * @description Those that did not succeed.
             * @example 1
             */
            failures: number;
            lastCallAt: string | null;
            lastFailure: components["schemas"]["LastFailureView"] | null;
            /**
             * Format: double
             * @description Half of the calls took no longer.
             * @example 120
             */
            p50Ms: number | null;
            /**
             * Format: double
             * @description Nineteen of twenty took no longer.
             * @example 480
             */
            p95Ms: number | null;
            /** @description When the earliest of them ended. */
            since: string | null;
            /**
             * Format: double
             * @description Of 100 calls, how many succeeded; null where there was none.
             * @example 97.5
             */
            successPercent: number | null;
            toolId: string;
        };
        /**
         * @example {
         *       "inputSchema": {
         *         "properties": {
         *           "city": {
         *             "type": "string"
         *           }
         *         },
         *         "type": "object"
         *       },
         *       "name": "Weather in a city",
         *       "operation": {
         *         "method": "GET",
         *         "path": "/now/{{city}}",
         *         "type": "rest_call"
         *       },
         *       "outputSchema": {}
         *     }
         */
        ToolTemplateBody: {
            description?: string | null;
            inputSchema: unknown;
            name: string;
            operation: {
                [key: string]: unknown;
            };
            outputSchema: unknown;
            shared?: boolean | null;
        };
        ToolTemplateFields: {
            /** @description Whether nothing new is made from it. */
            archived: boolean;
            description?: string;
            inputSchema: unknown;
            name: string;
            operation: {
                [key: string]: unknown;
            };
            outputSchema: unknown;
        };
        /** @description A blueprint of tools. */
        ToolTemplateView: components["schemas"]["EntryHead"] & components["schemas"]["ToolTemplateFields"];
        /** @description One operation on one service. */
        ToolView: components["schemas"]["EntryHead"] & components["schemas"]["ToolFields"] & components["schemas"]["VitalView"] & {
            /**
             * @description Whether the model it asks is sent images: `acceptsImages` of its operation, else true for known families of models.
             *     Other models are sent the alternative text.
             */
            acceptsImages: boolean;
        };
        /**
         * @description What is said next. The first turn answers nothing; every other names the turn or the node it answers.
         * @example {
         *       "parentAlternativeId": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
         *       "text": "How many herons?"
         *     }
         */
        TurnBody: {
            /** @description `{"type": "text", "text": …}`, an image, audio, or mixed content. */
            content?: {
                [key: string]: unknown;
            } | null;
            /** @description What the processes are given besides the conversation. */
            initialContext?: {
                [key: string]: unknown;
            };
            /**
             * @description Whether your path goes on to the new turn. Default `true`; with `false` you stay where you are.
             * @default true
             */
            makeActive?: boolean;
            /** @description The node it answers. */
            parentAlternativeId?: string | null;
            /** @description The turn it answers; of its alternatives the one it shows, unless one is named. */
            parentTurnId?: string | null;
            /** @description The process that answers, if `speaker` is `agent`. Default: your default process. */
            processId?: string | null;
            /** @description Several processes that are to answer, each in an alternative of its own. */
            processIds?: string[];
            /**
             * @description Whether the conversation offers the process for the next answer. Default `true`; only a single answer of a single
             *     process counts. Of agent turns only.
             * @default true
             */
            rememberProcess?: boolean | null;
            /** @description How many answers each of them gives, 1 to 16 in all. */
            samples?: number | null;
            /** @description What else led to it. */
            sources?: components["schemas"]["SourceBody"][];
            /** @description user unless it is said; what agents say is generated by processes. */
            speaker?: string | null;
            /** @description Short for content of type text. */
            text?: string | null;
            /** @description Each speaker has a usual one. */
            turnType?: string | null;
        };
        /** @description A position in a conversation with everything said there: what it shows first, then the newest. */
        TurnView: {
            /** @description The newest of them, and before them the one it shows. */
            alternatives: components["schemas"]["NodeView"][];
            /**
             * Format: int64
             * @description How many alternatives there are in all.
             * @example 2
             */
            alternativesCount: number;
            conversationId: string;
            /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @description Where the earlier ones begin, as `cursor` of this turn's address; null when there are none. */
            next: string | null;
            /** @description The turn it follows; null at the root. */
            parentTurnId: string | null;
            /**
             * Format: int64
             * @description Its depth: the root has 1.
             * @example 1
             */
            sequence: number;
            /** @example user */
            speaker: string;
            /** @example message */
            turnType: string;
        };
        /** @description Something that was said or brought and is not remembered. Its words stay its owner's. */
        UnboundView: {
            /**
             * @description The number its episode would have, and that its node or item has.
             * @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
             */
            id: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            ownerId: string;
            /** @example it names a node that is not there, or that has no place of its own */
            reason: string;
            /**
             * @description When that was found, or when it became known here if nobody looked yet.
             * @example 2026-11-15T09:30:00.000Z
             */
            since: string;
        };
        /**
         * @example {
         *       "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         *       "role": "admin"
         *     }
         */
        UserChangeBody: {
            /** @description The hash of the state you looked at; `If-Match` will do as well. */
            basedOnHash?: string | null;
            name?: string | null;
            /** @description user or admin. */
            role?: string | null;
        };
        /** @description A user; what they keep is theirs alone. */
        UserView: {
            /** @example 2026-11-15T09:30:00.000Z */
            createdAt: string;
            /** @description To base a change on. */
            hash: string;
            /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            /** @example anna */
            name: string;
            /**
             * @description user or admin.
             * @example user
             */
            role: string;
            /** @description Signs the new user in, once; told once. */
            signInLink?: components["schemas"]["SignInLinkView"];
            /**
             * Format: int64
             * @example 1
             */
            version: number;
        };
        /** @description What keeps a draft from being a process. */
        ValidationView: {
            /** @description At most 100. A definition that is too large has one: what is too large about it. */
            breaches: components["schemas"]["BreachView"][];
            /** @description Whether there are more breaches than are listed. */
            truncated: boolean;
            /** @description Whether it could be made as it is. */
            valid: boolean;
        };
        /** @description A master key in use. */
        VaultKeyView: {
            /** @description Whether this server has the key. */
            held: boolean;
            /**
             * @description The beginning of its hash.
             * @example 9f86d081884c7d65
             */
            keyId: string;
            /**
             * Format: int64
             * @description Values it seals.
             * @example 3
             */
            values: number;
        };
        /** @description A rotation of the vault. */
        VaultRotationView: {
            /**
             * @description Its operation, with the progress and the result.
             * @example op_01HF7Y1ZR0F9Q8W2X3Y4Z5A6B7
             */
            operationId: string;
            /**
             * @description `queued` or `processing` until it has ended. After a crash the next server to notice finishes it.
             * @example completed
             */
            status: string;
        };
        /** @description How the values of secrets are kept. */
        VaultView: {
            /**
             * @description Which master key seals new values: the beginning of its hash.
             * @example 9f86d081884c7d65
             */
            keyId: string;
            /** @description The master keys in use, and the current one. */
            keys: components["schemas"]["VaultKeyView"][];
            rotation: components["schemas"]["VaultRotationView"] | null;
            /**
             * Format: int64
             * @description How many values there are.
             * @example 3
             */
            secrets: number;
            /**
             * Format: int64
             * @description How many of them an older master key seals; a rotation brings them under the current one.
             * @example 0
             */
            underOtherKeys: number;
            /**
             * Format: int64
             * @description How many of them are under a master key that this server does not have. Add that key to its key file.
             * @example 0
             */
            unreadable: number;
        };
        /** @description How many nodes have each verdict. */
        VerdictCounts: {
            /**
             * Format: int64
             * @description As they were written, by whom is not proved.
             */
            imported: number;
            /**
             * Format: int64
             * @description A parent or a raw response is missing.
             */
            incomplete: number;
            /**
             * Format: int64
             * @description Altered.
             */
            invalid: number;
            /**
             * Format: int64
             * @description What they said, or the raw response, was destroyed on demand.
             */
            redacted: number;
            /**
             * Format: int64
             * @description As they were written.
             * @example 12
             */
            valid: number;
        };
        /**
         * @example {
         *       "deep": true
         *     }
         */
        VerificationBody: {
            /** @description Also compare every table made from items, and every blob. */
            deep?: boolean;
            /** @description The head noted earlier; a store that does not have it lost or changed its end. */
            expect?: string | null;
        };
        /** @description What verification found: as good as the worst node. */
        VerificationView: {
            counts: components["schemas"]["VerdictCounts"];
            /** @description The first node that has this verdict, from the root on; null when all is valid. */
            firstNodeId: string | null;
            /**
             * Format: int64
             * @description How many complete nodes were looked at.
             * @example 12
             */
            nodes: number;
            /**
             * @description valid, imported, redacted, incomplete or invalid.
             * @example valid
             */
            verdict: string;
        };
        /** @description How something works, by its last check; nobody sets it by hand. */
        VitalView: {
            errorMessage: string | null;
            lastHealthCheck: string | null;
            /**
             * @description healthy, degraded or down; what was never checked is degraded, what is disabled is down.
             * @example degraded
             */
            status: string;
        };
        /** @description Who loses by a thing that is not shared, or not enabled, any more. */
        WarningView: {
            /**
             * Format: int64
             * @description How many secrets others bound to it.
             * @example 1
             */
            affectedBindingCount: number;
            /**
             * Format: int64
             * @description How many processes depend on it, directly or by a tool.
             * @example 2
             */
            affectedProcessCount: number;
            /**
             * Format: int64
             * @description How many tools of others stand on it.
             * @example 0
             */
            affectedToolCount: number;
            /**
             * Format: int64
             * @description How many users these belong to.
             * @example 1
             */
            affectedUserCount: number;
            message: string;
        };
        /** @description A run with its steps, its calls, its questions, and the runs it started. */
        WholeExecutionView: components["schemas"]["ExecutionView"] & {
            /** @description Every call of its own, in the order they were made. */
            calls: components["schemas"]["CallView"][];
            children: components["schemas"]["WholeExecutionView"][];
            cost: components["schemas"]["SpendingView"] | null;
            reviewIds: string[];
            steps: components["schemas"]["StepView"][];
            /** @description Of the outermost run: all that happened in it and in those it started, in order. */
            timeline?: components["schemas"]["MomentView"][];
        };
        /** @description A window accounted for. */
        WindowView: {
            /** @example 8192 */
            budget: number;
            /** @description Tokens of all that is not. */
            droppedTokens: number;
            /** @description Whether an answer of `processId` would be asked for by exactly this request. */
            exact: boolean;
            /**
             * @description Why not: noProcess without `processId`; noModel, noContext, earlierSteps (other steps have to run before the answer) or
             *     notReached (a step cannot be called, or is left out by its condition) where the request is not known; windowOptions where
             *     `budget` or `strategy` differ from those of a run; refused where the call would end with `refusal` and nothing is sent.
             *     Null where `exact` is true.
             * @example windowOptions
             */
            inexactBecause: string | null;
            /** @description Whether the counts are guesses, four characters a token. */
            isEstimate: boolean;
            /** @description Where a very long path was looked at from; null when all of it was. */
            lookedFromNodeId: string | null;
            /**
             * @description What would be sent, where it was asked for. With a process whose request is known, each message as its provider is sent
             *     it: with Anthropic's API neighbours of one role are one message. Otherwise user and assistant in turns, the system part
             *     first.
             */
            messages?: components["schemas"]["MessageView"][];
            /** @description Whether even the least that is always shown is more than the budget. */
            overBudget: boolean;
            /** @description How the model would be asked, where the request is known and messages were asked for. */
            parameters?: components["schemas"]["ParametersView"];
            /** @description In the order they stand in the window. */
            parts: components["schemas"]["PartView"][];
            /** @description The error of the execution, where the call would be refused before it is sent. */
            refusal?: components["schemas"]["RefusalView"];
            /** @description The request itself, where it is known and messages were asked for. */
            request?: components["schemas"]["RequestView"];
            /**
             * @description What is kept free for the answer.
             * @example 1024
             */
            reserve: number;
            /** @example truncateMiddle */
            strategy: string;
            /** @description What would be sent as one text: a buffer, or the prompt of a completions API. */
            text?: string;
            /** @description The tools that the model would be offered, where the request is known and messages were asked for. */
            tools?: components["schemas"]["OfferedToolView"][];
            /** @description Tokens of all that is shown. */
            totalTokens: number;
            /** @description Whether something was left out for want of room. */
            truncated: boolean;
        };
        /** @description A process that makes calls. */
        WorkerView: {
            /**
             * Format: int64
             * @description How many calls it makes at once.
             */
            concurrency: number;
            currentJobIds: string[];
            /** Format: int64 */
            errorCount: number;
            host: string;
            /** @example worker_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
            id: string;
            lastHeartbeat: string;
            /** Format: int64 */
            pid: number;
            /** Format: int64 */
            processedCount: number;
            startedAt: string;
            /**
             * @description idle, busy or offline.
             * @example idle
             */
            status: string;
            /** @description `graph_query`, `llm_call`, `rest_call`, `mcp_tool`. */
            types: string[];
        };
    };
    responses: {
        /** @description The request cannot be understood. */
        E400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "invalid_body",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "name: expected text",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Nobody known is asking. */
        E401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unauthenticated",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "send a key as \"Authorization: Bearer sk_…\"",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description It is there, but not for this credential. */
        E403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "permission_denied",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "only an administrator may do this",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Missing, or not yours to see. */
        E404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "not_found",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z was not found",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The body did not arrive in time. */
        E408: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "body_too_slow",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "the body did not arrive within 30 seconds",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description It clashes with what is there. */
        E409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "idempotency_payload_mismatch",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "this Idempotency-Key was used for another request",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description More than this door takes. */
        E413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "too_large",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "a body has at most 16777216 bytes here",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description The body is of the wrong kind. */
        E415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "unsupported_media_type",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "the body has to be JSON",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description There are no such bytes. */
        E416: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "range_not_satisfiable",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "there are fewer bytes",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description It was asked for by another name. */
        E421: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "host_not_allowed",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "this server does not answer to that host name",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description A rule would be broken; `rule` names it. */
        E422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "rule_violation",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "the five minutes for undoing have passed",
                 *         "retryable": false,
                 *         "rule": "MG-SOIL-005"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Too many requests; `Retry-After` says when. */
        E429: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "rate_limited",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "too many requests from this address",
                 *         "retryable": true,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Our fault; with `storage_damaged`, what was asked for is damaged where it is stored, and `skein verify` says where. */
        E500: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "internal",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "something went wrong inside",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Somebody outside did not answer as they should. */
        E502: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "answer_not_understood",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "docs.example: it answered 500",
                 *         "retryable": false,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Not now; `Retry-After` says when. */
        E503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "busy",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "too much is waiting to be written; try again in a second",
                 *         "retryable": true,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description Somebody outside did not answer in time. */
        E504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "timeout",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "docs.example did not answer in time",
                 *         "retryable": true,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
        /** @description There is no room left. */
        E507: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "error": {
                 *         "code": "storage_full",
                 *         "correlationId": "5f3c9a7e0d6f4a1b8c2d7f9c24e53b1a",
                 *         "details": {},
                 *         "message": "the disk is full",
                 *         "retryable": true,
                 *         "rule": null
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ErrorEnvelope"];
            };
        };
    };
    parameters: {
        /** @description The grant under which an administrator looks. */
        Grant: string;
        /**
         * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
         * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
         */
        IdempotencyKey: string;
        /**
         * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
         * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
         */
        IfMatch: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    read_account: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_default_process: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefaultProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_default_process: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DefaultProcessBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_DefaultProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    end_session: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_EndedView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_SessionView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    end_session_elsewhere: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example session_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_EndedView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    create_sign_in_link: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SignInLinkView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SignInLinkView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_actors: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ActorView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_actor: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActorBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ActorView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ActorView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_actor: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActorView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_actor: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActorChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ActorView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_endpoints: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_EndpointView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    allow_endpoint: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndpointBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_EndpointView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_EndpointView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    refuse_endpoint: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_EndpointView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_approvals: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ListedApprovalView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    revoke_approval: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ApprovalView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    upload_blob: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example any bytes */
                "application/octet-stream": string | null;
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BlobView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BlobView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    download_blob: {
        parameters: {
            query?: never;
            header?: {
                /** @description bytes=first-last */
                Range?: string;
                /** @description The `ETag` of what you have */
                "If-None-Match"?: string;
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 */
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description The part that was asked for. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "*/*": string;
                };
            };
            /** @description You have it: nothing changed since that `ETag`. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            416: components["responses"]["E416"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    draw_thumbnail: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what you have */
                "If-None-Match"?: string;
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 */
                hash: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                };
            };
            /** @description You have it: nothing changed since that `ETag`. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    compare: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompareBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_conversations: {
        parameters: {
            query?: {
                /** @description active (left out) or archived. */
                status?: string;
                /** @description Only of this project. */
                projectId?: string;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_conversation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConversationChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    export_conversation: {
        parameters: {
            query?: {
                /** @description markdown or html; markdown unless it is said. */
                format?: string;
                /** @description Only the path that leads to this node; all branches unless it is said. */
                nodeId?: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                    "text/markdown": string;
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    fold_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FoldBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    fork_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_forks: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_node_by_local_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example 01K9ZQ */
                localId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaggedNodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_path: {
        parameters: {
            query?: {
                /** @description Where the path ends; where you stand, unless it is named. */
                nodeId?: string;
                /** @description Where the last page ended: the path goes on above it. */
                cursor?: string;
                /**
                 * @description Nodes per page, 1 to 1000.
                 * @example 10
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_TaggedNodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    move_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MembershipBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BranchView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    reopen_conversation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_conversation_summary: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    renew_conversation_summary: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SummaryView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_tree: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkeletonView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    append_turn: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TurnBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_AnsweringView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_turn: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                turnId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    add_alternative: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                turnId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlternativeBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_AnsweringView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    activate_alternative: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                turnId: string;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                nodeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ActivatedView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    regenerate: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                turnId: string;
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                nodeId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RegenerateBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_AnsweringView"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_AnsweringView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    fork_at_turn: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example turn_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                turnId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForkAtTurnBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    verify_conversation: {
        parameters: {
            query?: {
                /** @description Only the path that leads to this node, through the conversations it was forked from. */
                nodeId?: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_deltas: {
        parameters: {
            query?: {
                /** @description The `next` of the last answer; without it, from the beginning. */
                after?: string;
                /**
                 * @description Entries, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeltasView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_episodes: {
        parameters: {
            query?: {
                /** @description Only those of one conversation. */
                conversation?: string;
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_EpisodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    import_episode: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BringBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BroughtView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BroughtView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_episode: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example episode_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    watch_events: {
        parameters: {
            query?: {
                /** @description Where to go on from, for clients that cannot send `Last-Event-ID`; without either, from now on. */
                after?: string;
            };
            header?: {
                /** @description The `id` of the last event seen */
                "Last-Event-ID"?: string;
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["EventView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_executions: {
        parameters: {
            query?: {
                /** @description running, completed, failed or cancelled. */
                status?: string;
                processId?: string;
                conversationId?: string;
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ExecutionView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_execution: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeExecutionView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    branch_execution: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BranchBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    cancel_execution: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_WholeExecutionView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    pause_execution: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PausedBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_WholeExecutionView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    resume_execution: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    stream_execution: {
        parameters: {
            query?: {
                /** @description The last piece heard, for clients that cannot send `Last-Event-ID`. Default 0: all pieces. */
                after?: number;
            };
            header?: {
                /** @description The `id` of the last piece heard */
                "Last-Event-ID"?: string;
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_export: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExportBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ExportView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ExportView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    download_export: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description What secrets in the bundle are sealed with: 12 characters or more, their UTF-8 in base64. Never kept.
                 * @example Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==
                 */
                "Skein-Passphrase"?: string;
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/zip": string;
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_generations: {
        parameters: {
            query: {
                /**
                 * @description Up to 100 nodes, with commas between them.
                 * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                nodeIds: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GenerationsView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_grants: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_GrantView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    give_grant: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGrantBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrantView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrantView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    end_grant: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrantView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    import_bundle: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description What secrets in the bundle are sealed with: 12 characters or more, their UTF-8 in base64. Never kept.
                 * @example Y29ycmVjdCBob3JzZSBiYXR0ZXJ5IHN0YXBsZQ==
                 */
                "Skein-Passphrase"?: string;
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example the bytes of a bundle */
                "application/zip": string;
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ImportView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_index: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IndexView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    rebuild_index: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RebuildBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RebuildView"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RebuildView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_unbound: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_UnboundView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_items: {
        parameters: {
            query?: {
                /**
                 * @description Only items of this type.
                 * @example Note
                 */
                type?: string;
                /**
                 * @description Also what only keeps the books when no type is asked for: changes of records and relations, seals, events of the
                 *     system.
                 */
                includeSystem?: boolean;
                /** @description Along when they were recorded, or along when they happened. */
                clock?: "realized" | "canonical";
                order?: "asc" | "desc";
                /**
                 * @description From this moment on, inclusive.
                 * @example 2026-11-01T00:00:00.000Z
                 */
                from?: string;
                /**
                 * @description Up to this moment, exclusive.
                 * @example 2026-12-01T00:00:00.000Z
                 */
                until?: string;
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ItemView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    append_items: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppendBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendAnswer"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendAnswer"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_item: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    correct_time: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TimeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ItemView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_payload: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    prove_item: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, unknown>;
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    redact_item: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RedactBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RedactedView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    undo_item: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ItemView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ItemView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_keys: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_KeyView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_key: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewKeyBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_KeyView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_KeyView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    revoke_key: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example key_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_KeyView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_nodes: {
        parameters: {
            query?: {
                /** @description What this user or actor said: `user_…` or `entity_…`. */
                author?: string;
                /** @description What is bookmarked (true). */
                bookmarked?: boolean;
                /** @description What has this tag. */
                tag?: string;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_TaggedNodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_node: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaggedNodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_annotations: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_NodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    annotate_node: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotationBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_GrownView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_children: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_NodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    show_context: {
        parameters: {
            query?: {
                /**
                 * @description Tokens of the whole window, 1024 kept free for the answer; the conversation's own budget unless it is said. Runs use the
                 *     latter, so with `processId` the preview is not exact.
                 * @example 8192
                 */
                budget?: number;
                /**
                 * @description truncateMiddle, rollingWindow or stopAtLimit; truncateMiddle unless it is said. Runs use truncateMiddle, so with
                 *     `processId` the preview by another is not exact.
                 */
                strategy?: string;
                /** @description report, or messages for what would be sent beside it; report unless it is said. */
                format?: string;
                /** @description Whose `systemPrompt` comes first. Left out with `processId`: there it is the actor that answers. */
                actorId?: string;
                /**
                 * @description The process that would answer. With it, `request` and `messages` are what its model would be sent, images and prompts
                 *     of its tool and its actor included. Without it, images are shown as text.
                 */
                processId?: string;
                /**
                 * @description Sources of the answer beside the node, as `role:node` with commas between; the role is context or instruction.
                 * @example context:item_01JA2B3C4D5E6F7G8H9J0K1M2N
                 */
                sources?: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WindowView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            409: components["responses"]["E409"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_edges: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_EdgeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_edits: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_EditView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_forks_at_node: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ConversationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    mark_node: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MarksBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_TaggedNodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    trace_node: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProvenanceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_siblings: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_NodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    similar_nodes: {
        parameters: {
            query?: {
                /**
                 * @description Results, 1 to 100. Default 10.
                 * @example 10
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundListing"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_subtree: {
        parameters: {
            query?: {
                /**
                 * @description How many turns below the node, 0 to 10000; 5 unless it is said.
                 * @example 5
                 */
                depth?: number;
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_NodeView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_node_summary: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    renew_node_summary: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SummaryView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    verify_node: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerificationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_operations: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_OperationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_operation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    cancel_operation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_OperationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_processes: {
        parameters: {
            query?: {
                /** @description Only enabled ones (true), or only disabled ones (false). */
                enabled?: boolean;
                /** @description Also those that were deleted. */
                includeArchived?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_process: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProcessBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProcessView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    validate_process: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProcessBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_process: {
        parameters: {
            query?: {
                /** @description A version, from 1; without it, the current one. */
                version?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_process: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProcessChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    delete_process: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProcessView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    execute_process: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    check_process: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessHealthView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_projects: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ProjectView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_project: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProjectView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProjectView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_project: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_project: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ProjectView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_frames: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FramesView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    turn_frame: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                actorId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FrameBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_FrameView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_stack: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_BranchView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_queue: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_dead_jobs: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_DeadJobView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_records: {
        parameters: {
            query: {
                /**
                 * @description The records' type, such as `Setting`.
                 * @example TimeOverride
                 */
                type: string;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_RecordView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_record: {
        parameters: {
            query?: {
                /** @description A version, from 1; without it and `at`, the current one. */
                version?: number;
                /**
                 * @description A moment; the state the record had then.
                 * @example 2026-11-15T09:30:00.000Z
                 */
                at?: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    diff_record: {
        parameters: {
            query: {
                /**
                 * @description A version, from 1.
                 * @example 1
                 */
                from: number;
                /**
                 * @description Another one.
                 * @example 2
                 */
                to: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordDiffView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_history: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_HistoryView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    restore_record: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RestoreBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RecordView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_relations: {
        parameters: {
            query: {
                /**
                 * @description The thing the relations meet at: `item_…`, `item_…#3` or `entity_…`, which is found as `entity` and as `log`.
                 * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                of: string;
                /** @description Whether the thing is their source or their target. */
                side?: "source" | "target";
                /**
                 * @description Only of this kind.
                 * @example derived_from
                 */
                kind?: string;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_RelationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_relation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRelationBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RelationView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RelationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    follow_chain: {
        parameters: {
            query: {
                /**
                 * @description Where the chain begins.
                 * @example item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                from: string;
                /** @description Whether to go from sources to targets (forward) or back. */
                direction?: "forward" | "backward";
                /** @example triggers */
                kind: string;
                /**
                 * @description Most steps, 1 to 10000.
                 * @example 1000
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChainView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_relation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RelationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    edit_relation: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QualitiesBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RelationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    remove_relation: {
        parameters: {
            query?: {
                /**
                 * @description Why it goes.
                 * @example made by mistake
                 */
                reason?: string;
            };
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_RelationView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_reviews: {
        parameters: {
            query?: {
                /**
                 * @description open, or all.
                 * @example open
                 */
                status?: string;
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ReviewView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_review: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReviewView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    decide_review: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DecisionBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ReviewView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    delegate_review: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DelegateBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ReviewView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    search: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundListing"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_secrets: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SecretView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_secret: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    delete_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    share_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SecretView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_service_templates: {
        parameters: {
            query?: {
                /** @description Also those from which nothing new is made. */
                includeArchived?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ServiceTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_service_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceTemplateBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceTemplateView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_service_template: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_service_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    archive_service_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_template_services: {
        parameters: {
            query?: {
                /** @description Also what others made and share; true unless said otherwise. */
                includeShared?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_InstanceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_services: {
        parameters: {
            query?: {
                /** @description Only of this type. */
                type?: string;
                /** @description Only enabled ones (true), or only disabled ones (false). */
                enabled?: boolean;
                /** @description Only those that are healthy, degraded or down; a page may then be short and still go on. */
                status?: string;
                /** @description Only your own (true). */
                owned?: boolean;
                /** @description Only what others share (true). */
                shared?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_service: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_service: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_service: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServiceChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    delete_service: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    discover_tools: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DiscoverBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_DiscoveredView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_DiscoveredView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            502: components["responses"]["E502"];
            503: components["responses"]["E503"];
            504: components["responses"]["E504"];
            507: components["responses"]["E507"];
        };
    };
    check_service: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    share_service: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SharedServiceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_settings: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingsView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_setting: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example operations.keptDays */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_setting: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example operations.keptDays */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SettingView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_storage: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_tags: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_TagView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_tool_templates: {
        parameters: {
            query?: {
                /** @description Also those from which nothing new is made. */
                includeArchived?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ToolTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_tool_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolTemplateBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolTemplateView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_tool_template: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_tool_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TemplateChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    archive_tool_template: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolTemplateView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_template_tools: {
        parameters: {
            query?: {
                /** @description Also what others made and share; true unless said otherwise. */
                includeShared?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_InstanceView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    list_tools: {
        parameters: {
            query?: {
                /** @description Only on this service; a page may then be short and still go on. */
                serviceId?: string;
                /** @description Only of this type of operation: `rest_call`, `llm_call`, `graph_query` or `mcp_tool`. */
                type?: string;
                /** @description Only enabled ones (true), or only disabled ones (false). */
                enabled?: boolean;
                /** @description Only those that are healthy, degraded or down; a page may then be short and still go on. */
                status?: string;
                /** @description Only your own (true). */
                owned?: boolean;
                /** @description Only what others share (true). */
                shared?: boolean;
                /** @description Where the last page ended. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_ToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_tool: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_tool_metrics: {
        parameters: {
            query: {
                /**
                 * @description Up to 100 tools, with commas between them.
                 * @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z
                 */
                toolIds: string;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolMetricsListing"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    read_tool: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_tool: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SharedToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    delete_tool: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_ToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    bind_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BindBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BindingView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    unbind_secret: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_BindingView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    share_tool: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ShareBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SharedToolView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    test_tool: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
                /**
                 * @description The hash of the record in the path that you looked at. If it has changed, the answer is 409 and nothing is written.
                 * @example "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                 */
                "If-Match"?: components["parameters"]["IfMatch"];
            };
            path: {
                /** @example entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_users: {
        parameters: {
            query?: {
                /** @description Where the last page ended: its `pagination.next`. */
                cursor?: string;
                /**
                 * @description Entries per page, 1 to 1000.
                 * @example 100
                 */
                limit?: number;
            };
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_UserView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    create_user: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUserBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_UserView"];
                };
            };
            /** @description It was made; `Location` says where it is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_UserView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_user: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path: {
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    change_user: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserChangeBody"];
            };
        };
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_UserView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    create_link_for_user: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @example user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SignInLinkView"];
                };
            };
            /** @description It was made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mutated_SignInLinkView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            404: components["responses"]["E404"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    read_vault: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VaultView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
    rotate_vault: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    request_verification: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description A UUID or a ULID, drawn by the client for each request; a repeat within 24 hours is answered, not done again.
                 * @example 7f9c24e5-3b1a-4c55-9a7e-0d6f0a1b2c3d
                 */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VerificationBody"];
            };
        };
        responses: {
            /** @description The same request was made before; this is what came out. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            /** @description It is on disk and will be done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            408: components["responses"]["E408"];
            409: components["responses"]["E409"];
            413: components["responses"]["E413"];
            415: components["responses"]["E415"];
            421: components["responses"]["E421"];
            422: components["responses"]["E422"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
            507: components["responses"]["E507"];
        };
    };
    list_workers: {
        parameters: {
            query?: never;
            header?: {
                /** @description The grant under which an administrator looks. */
                "Skein-Grant"?: components["parameters"]["Grant"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Here it is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing_WorkerView"];
                };
            };
            400: components["responses"]["E400"];
            401: components["responses"]["E401"];
            403: components["responses"]["E403"];
            421: components["responses"]["E421"];
            429: components["responses"]["E429"];
            500: components["responses"]["E500"];
            503: components["responses"]["E503"];
        };
    };
}
