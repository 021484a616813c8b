"""The words of the invented corpora."""

# fmt: off
VERBS = ["Fix", "Debug", "Refactor", "Design", "Investigate", "Migrate",
         "Optimize", "Implement", "Review", "Decide", "Document", "Test",
         "Remove", "Configure", "Deploy", "Profile"]
COMPONENTS = ["checkout service", "rate limiter", "session cache", "order ledger",
              "search indexer", "billing worker", "auth gateway", "upload pipeline",
              "notification queue", "feature flags", "config loader", "job scheduler",
              "metrics exporter", "graphql resolver", "websocket hub", "image resizer",
              "email renderer", "audit log", "tenant router", "backup daemon",
              "plugin host", "query planner", "token store", "import wizard",
              "report builder", "webhook relay", "geo lookup", "pdf exporter",
              "retry policy", "schema registry"]
# (phrase used in the thread, paraphrase that shares no content word with it)
PROBLEMS = [("reconnect loop", "socket keeps redialing forever"),
            ("memory leak", "process footprint grows until killed"),
            ("deadlock under load", "threads stuck waiting on each other"),
            ("stale reads", "users see outdated values"),
            ("duplicate events", "same message handled twice"),
            ("slow startup", "takes ages before first request"),
            ("flaky integration test", "suite passes or breaks at random"),
            ("wrong timezone offset", "hours shifted for overseas customers"),
            ("missing pagination", "endpoint returns everything at once"),
            ("token refresh race", "two tabs invalidate each other"),
            ("unbounded retries", "client hammers server without stopping"),
            ("broken rollback", "undo leaves half applied changes"),
            ("index bloat", "storage keeps swelling on disk"),
            ("n plus one queries", "one lookup issued per row"),
            ("silent data loss", "rows vanish without any error"),
            ("certificate expiry", "https suddenly refused at midnight"),
            ("cache stampede", "everyone recomputes simultaneously"),
            ("encoding mismatch", "accented letters turn into garbage"),
            ("permission escalation", "ordinary accounts gain admin rights"),
            ("partial upload", "files cut off halfway")]
TECHS = ["postgres", "sqlite", "redis", "kafka", "rust", "python", "typescript",
         "react", "docker", "terraform", "grpc", "nginx", "celery", "opentelemetry",
         "pytest", "webpack", "kubernetes", "rabbitmq", "elasticsearch", "asyncio"]
QUALIFIERS = ["staging", "production", "canary", "nightly", "mobile", "admin",
              "legacy", "beta", "regional", "internal", "partner", "batch"]
ALTERNATIVES = ["exponential backoff", "a fixed delay", "optimistic locking",
                "a global mutex", "keyset pagination", "offset pagination",
                "a write-ahead log", "snapshot copies", "token bucket",
                "sliding window", "lazy loading", "eager warmup", "content hashing",
                "timestamps", "idempotency keys", "at-most-once delivery"]
WORDS = """the a to of and in is for on with that this it we be as from by at not
are was can will if but an or so then when there how which their has have had
should would could must may also only more less after before while because since
value values request requests response handler handlers module modules function
functions method call calls caller test tests case cases error errors exception
log logs line lines file files path paths config setting settings option options
flag flags default defaults state states event events queue worker workers job
jobs task tasks thread threads lock locks retry retries timeout timeouts limit
limits budget cache caches key keys entry entries row rows column columns table
tables schema migration index indexes query queries result results page pages
cursor batch batches chunk chunks stream streams buffer buffers byte bytes record
records field fields type types class object objects instance list map set string
number date time clock window interval schedule user users account session
sessions token tokens client clients server servers host port socket connection
connections pool proxy route routes router header headers body payload json yaml
version versions branch commit merge release build image container volume secret
secrets policy role permission audit metric metrics trace span latency throughput
memory cpu disk network load spike baseline benchmark profile hot cold path
check checks guard guards assert invariant contract boundary adapter driver plugin
interface helper wrapper factory registry loader parser lexer renderer template
layout component props hook context provider store reducer action effect layer
shape order sort filter group count total sum average ratio percent delta change
changes update updates delete insert upsert replace patch apply revert rollback
restore backup snapshot verify validate confirm reproduce isolate narrow root
cause symptom evidence hypothesis plan step steps first second third next final
current previous earlier later old new local remote upstream downstream internal
external public private shared global single double empty full partial complete
missing extra invalid valid stale fresh slow fast small large simple complex safe
unsafe explicit implicit strict loose stable flaky clean dirty""".split()
DIRS = ["src/core", "src/api", "src/workers", "src/ui", "lib/store", "lib/net",
        "tests", "config", "scripts", "services/edge"]
STEMS = ["loader", "router", "cache", "ledger", "queue", "session", "retry", "index",
         "export", "import", "render", "policy", "token", "schema", "batch", "relay",
         "planner", "resizer", "audit", "flags", "metrics", "hub", "store", "worker"]
EXTS = ["py", "ts", "rs", "go", "md", "yaml", "sql"]
MODELS = ["claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5-20251001"]
PROJECTS = ["acme-shop", "api_gateway", "ledger-core", "atlas.ui", "night-jobs",
            "field-notes", "pricing engine", "edge-proxy", "data-lake", "mobile-app",
            "ops-tools", "docs-site"]
BAD_BYTES = [b"\xff", b"\xfe\xff", b"\x80\x81", b"\xc3(", b"\xed\xa0\x80", b"\xf0\x9f"]
BAD_MARK = "\u241bBADBYTES\u241b"
