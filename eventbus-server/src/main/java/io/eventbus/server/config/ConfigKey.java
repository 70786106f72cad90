package io.eventbus.server.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Table of configuration keys: name, type, default, range and reason of each. Everything else that
 * knows about a key is derived from this table: the properties file, the environment variables, the
 * flags, the effective configuration as printed, and the reference in {@code
 * docs/configuration.md}.
 *
 * <p>Numbers are counts, bytes ({@link ValueType#SIZE}) or milliseconds ({@link ValueType#TIME}).
 */
public enum ConfigKey {
  /** Name of the bus. */
  BUS_NAME(
      "bus.name",
      ValueType.NAME,
      "",
      "--name",
      "Name of this bus in logs, in `Welcome` and in the administration API. Empty: `bus-` and 8"
          + " random hex digits, which a member of a cluster stores in its directory."),

  /** Address to listen on. */
  LISTEN_HOST(
      "listen.host",
      ValueType.HOST,
      "0.0.0.0",
      "--host",
      "Address for clients. `127.0.0.1` accepts local clients only."),
  /** Port to listen on. */
  LISTEN_PORT(
      "listen.port",
      ValueType.COUNT,
      "8080",
      0,
      65_535,
      "--port",
      "TCP port for clients. 0: a free port."),
  /** Path of the WebSocket endpoint. */
  LISTEN_PATH(
      "listen.path", ValueType.URL_PATH, "/bus", "--path", "Path of the WebSocket endpoint."),
  /** Number of event loops. */
  LISTEN_EVENT_LOOPS(
      "listen.event-loops",
      ValueType.COUNT,
      "0",
      0,
      1024,
      "",
      "Threads that serve connections. 0: one for each core."),
  /** Socket implementation. */
  LISTEN_TRANSPORT(
      "listen.transport",
      ValueType.TRANSPORT,
      "auto",
      "",
      "Socket implementation. `epoll` is the fastest and needs Linux; `auto` uses it where it is"
          + " available."),
  /** Accept backlog. */
  LISTEN_BACKLOG(
      "listen.backlog",
      ValueType.COUNT,
      "4096",
      1,
      65_535,
      "",
      "TCP connections that may wait to be accepted. The kernel caps it (`net.core.somaxconn`)."),
  /** Open connections. */
  LISTEN_MAX_CONNECTIONS(
      "listen.max-connections",
      ValueType.COUNT,
      "100000",
      1,
      10_000_000,
      "",
      "Open client connections. Of further ones, up to 64 at a time get a 503; the bus closes the"
          + " rest at once. See [connections](#connections)."),

  /** Sites whose pages may connect. */
  LISTEN_ALLOWED_ORIGINS(
      "listen.allowed-origins",
      ValueType.ORIGINS,
      "",
      "",
      "Sites whose pages may connect; `*` allows all. The bus's own pages may connect under"
          + " `localhost`, an IP address or `listen.host`. Clients without `Origin` are not"
          + " checked."),
  /** Pages that stall publishers. */
  LISTEN_BROWSER_BLOCK(
      "listen.browser-block",
      ValueType.BROWSER_BLOCK,
      "refuse",
      "",
      "Whether clients in a browser may subscribe with `BLOCK`: a sleeping computer would stall"
          + " publishers. `allow` leaves the decision to `auth.block` or the roles file."),
  /** Addresses of proxies. */
  LISTEN_PROXIES(
      "listen.proxies",
      ValueType.NETWORKS,
      "",
      "",
      "Reverse proxies that may name the client's address, by the PROXY protocol, `Forwarded` or"
          + " `X-Forwarded-For`. Limits per address then apply to the client, not to the proxy."),

  /** Certificate chain. */
  TLS_CERTIFICATE(
      "tls.certificate",
      ValueType.FILE,
      "",
      "--tls-certificate",
      "PEM file with the certificate chain for clients. Together with `tls.key` it turns on TLS."),
  /** Private key. */
  TLS_KEY(
      "tls.key",
      ValueType.FILE,
      "",
      "--tls-key",
      "PEM file with the private key of `tls.certificate`: PKCS#8, not encrypted."),

  /** Authority of clients. */
  TLS_CLIENT_CA(
      "tls.client-ca",
      ValueType.FILE,
      "",
      "",
      "PEM file with the authorities that issue clients' certificates. Required with"
          + " `tls.client-auth`."),
  /** Certificates of clients. */
  TLS_CLIENT_AUTH(
      "tls.client-auth",
      ValueType.CLIENT_AUTH,
      "none",
      "",
      "Whether the bus asks clients for a certificate. `optional`: a client without one logs in"
          + " another way. `required`: its handshake fails."),

  /** Largest payload of one event. */
  LIMITS_PAYLOAD_BYTES(
      "limits.payload-bytes",
      ValueType.SIZE,
      "1MiB",
      1,
      Bytes.GIB,
      "",
      "Largest payload of one event."),
  /** Largest WebSocket message. */
  LIMITS_MESSAGE_BYTES(
      "limits.message-bytes",
      ValueType.SIZE,
      "4MiB",
      Bytes.KIB,
      Bytes.GIB,
      "",
      "Largest WebSocket message. It must hold the largest event: payload, headers and 16 KiB"
          + " more."),
  /** Headers of one event. */
  LIMITS_HEADERS("limits.headers", ValueType.COUNT, "64", 0, 1024, "", "Headers of one event."),
  /** Bytes of all headers of one event. */
  LIMITS_HEADER_BYTES(
      "limits.header-bytes",
      ValueType.SIZE,
      "16KiB",
      0,
      16 * Bytes.MIB,
      "",
      "Names and values of all headers of one event together."),
  /** Subscriptions of one connection. */
  LIMITS_SUBSCRIPTIONS(
      "limits.subscriptions",
      ValueType.COUNT,
      "10000",
      1,
      1_000_000,
      "",
      "Subscriptions of one connection."),
  /** Heap for the subscriptions of all connections. */
  LIMITS_SUBSCRIPTION_BYTES(
      "limits.subscription-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.PIB,
      "",
      "Estimated heap of the subscriptions of all connections. 0: a quarter of the JVM's heap."
          + " See [memory of subscriptions](#memory-of-subscriptions)."),
  /** Groups of one connection. */
  LIMITS_GROUPS(
      "limits.groups",
      ValueType.COUNT,
      "32",
      1,
      1024,
      "",
      "Different groups that one connection may join. Each group that matches an event costs time"
          + " for that event."),
  /** Groups of one topic. */
  LIMITS_TOPIC_GROUPS(
      "limits.topic-groups",
      ValueType.COUNT,
      "1024",
      16,
      65_536,
      "",
      "Groups of one account on all wildcard filters; also, its groups on one exact topic. Once"
          + " half of them exist, only a connection without another group may add one."),
  /** Patterns of wildcards in all filters. */
  LIMITS_WILDCARD_PATTERNS(
      "limits.wildcard-patterns",
      ValueType.COUNT,
      "1024",
      16,
      65_536,
      "",
      "Wildcard patterns of one account; `a.*.>` and `b.*.>` are one pattern. Each costs time in"
          + " every topic look-up. One connection may add a sixteenth of them."),
  /** Accounts that have clients. */
  LIMITS_ACCOUNTS(
      "limits.accounts",
      ValueType.COUNT,
      "1000",
      0,
      100_000,
      "",
      "Accounts with clients at this bus at a time, besides the default one. Clients of further"
          + " accounts get `Problem(LIMIT_EXCEEDED)` and close code 4003."),
  /** Bytes queued for one connection. */
  LIMITS_QUEUE_BYTES(
      "limits.queue-bytes",
      ValueType.SIZE,
      "8MiB",
      2 * Bytes.KIB,
      Bytes.TIB,
      "",
      "Bytes that may wait for one subscriber before its overflow policy acts. At least twice"
          + " `limits.message-bytes`."),
  /** Bytes queued on the whole bus. */
  LIMITS_MEMORY_BYTES(
      "limits.memory-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.PIB,
      "",
      "Bytes that may wait on the whole bus. 0: a quarter of the heap, or half of the direct"
          + " memory if that is less. See [memory of the bus](#memory-of-the-bus)."),
  /** Largest message before Welcome. */
  LIMITS_HELLO_BYTES(
      "limits.hello-bytes",
      ValueType.SIZE,
      "64KiB",
      Bytes.KIB,
      Bytes.GIB,
      "",
      "Largest message of a client that the bus has not welcomed yet."),
  /** Connections of one address. */
  LIMITS_ADDRESS_CONNECTIONS(
      "limits.address-connections",
      ValueType.COUNT,
      "4000",
      0,
      10_000_000,
      "",
      "Open connections of one client address. 0: no limit. All limits per address exempt"
          + " loopback, and count an IPv6 /64 network as one address."),
  /** Unfinished handshakes of one address. */
  LIMITS_ADDRESS_HANDSHAKES(
      "limits.address-handshakes",
      ValueType.COUNT,
      "1000",
      0,
      10_000_000,
      "",
      "Connections of one client address that the bus has not welcomed yet. 0: no limit."),
  /** Rate of handshakes of one address. */
  LIMITS_ADDRESS_HANDSHAKE_RATE(
      "limits.address-handshake-rate",
      ValueType.COUNT,
      "200",
      0,
      1_000_000,
      "",
      "New connections per second of one client address, averaged over 10 s. 0: no limit."),
  /** Share of one address. */
  LIMITS_ADDRESS_MEMORY_PERCENT(
      "limits.address-memory-percent",
      ValueType.COUNT,
      "25",
      1,
      100,
      "",
      "Percent that the connections of one address may use of the memory for subscriptions, of"
          + " that for calls and registrations, and of `federation.filters` once half of it is"
          + " used."),
  /** Calls of one connection. */
  LIMITS_CALLS(
      "limits.calls",
      ValueType.COUNT,
      "4096",
      1,
      1_000_000,
      "",
      "Calls of one connection in flight, including cancelled calls that the member has not"
          + " answered."),
  /** Services of one connection. */
  LIMITS_SERVICES(
      "limits.services",
      ValueType.COUNT,
      "1000",
      1,
      1_000_000,
      "",
      "Services that one connection may serve."),
  /** Streams and tunnels of one connection. */
  LIMITS_TUNNELS(
      "limits.tunnels",
      ValueType.COUNT,
      "1024",
      1,
      65_536,
      "",
      "Open streams and tunnels of one connection, as caller and as member together."),
  /** Buffer of one connection's streams and tunnels. */
  LIMITS_TUNNEL_BUFFER_BYTES(
      "limits.tunnel-buffer-bytes",
      ValueType.SIZE,
      "8MiB",
      64 << 10,
      1L << 30,
      "",
      "Bytes of streams and tunnels that may wait for one connection; flow control stops the"
          + " senders. At least 2 KiB for each of `limits.tunnels`."),
  /** Budget of stalls under `BLOCK`. */
  LIMITS_BLOCK_STALL_TIME(
      "limits.block-stall-time",
      ValueType.TIME,
      "5s",
      0,
      Millis.MAX,
      "",
      "Time per minute that one identity's `BLOCK` subscribers may stall publishers while others"
          + " could read; then they become `DROP_OLDEST`. Clients without a name count by"
          + " address. 0: no limit."),

  /** Open connections of one identity. */
  QUOTAS_CONNECTIONS(
      "quotas.connections",
      ValueType.COUNT,
      "0",
      0,
      Quota.CONNECTIONS.max(),
      "",
      "Open connections of one identity. Further ones get `Problem(LIMIT_EXCEEDED)` and close"
          + " code 4003. 0: no quota."),
  /** Events that one identity publishes in a second. */
  QUOTAS_PUBLISH_EVENTS(
      "quotas.publish-events",
      ValueType.COUNT,
      "0",
      0,
      Quota.PUBLISH_EVENTS.max(),
      "",
      "Events per second that one identity publishes. Above it the bus pauses reading the"
          + " identity's connections; nothing is lost. 0: no quota."),
  /** Bytes that one identity sends in a second. */
  QUOTAS_PUBLISH_BYTES(
      "quotas.publish-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.PUBLISH_BYTES.max(),
      "",
      "Bytes per second of one identity's `Publish`, `Request`, `Reply`, `Failure` and `Data`"
          + " frames. Above it the bus pauses reading; nothing is lost. 0: no quota."),
  /** Subscriptions of one identity. */
  QUOTAS_SUBSCRIPTIONS(
      "quotas.subscriptions",
      ValueType.COUNT,
      "0",
      0,
      Quota.SUBSCRIPTIONS.max(),
      "",
      "Subscriptions of one identity. Further ones get `Problem(LIMIT_EXCEEDED)`. 0: no quota."),
  /** Bytes that wait for the connections of one identity. */
  QUOTAS_QUEUE_BYTES(
      "quotas.queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.QUEUE_BYTES.max(),
      "",
      "Bytes that wait for all connections of one identity. Above it each queue is limited to an"
          + " equal part, as if that were `limits.queue-bytes`. 0: no quota."),
  /** Requests of one identity in a second. */
  QUOTAS_REQUESTS(
      "quotas.requests",
      ValueType.COUNT,
      "0",
      0,
      Quota.REQUESTS.max(),
      "",
      "Requests to services per second of one identity. Further ones fail with `OVERLOADED`, not"
          + " executed, with a retry-after. 0: no quota."),
  /** Calls of one identity in flight. */
  QUOTAS_CALLS(
      "quotas.calls",
      ValueType.COUNT,
      "0",
      0,
      Quota.CALLS.max(),
      "",
      "Calls of one identity in flight. Further ones fail with `OVERLOADED`, not executed, with a"
          + " retry-after. 0: no quota."),
  /** Open connections of one account. */
  QUOTAS_ACCOUNT_CONNECTIONS(
      "quotas.account-connections",
      ValueType.COUNT,
      "0",
      0,
      Quota.CONNECTIONS.max(),
      "",
      "Like `quotas.connections`, for all clients of one account together. 0: no quota."),
  /** Events that one account publishes in a second. */
  QUOTAS_ACCOUNT_PUBLISH_EVENTS(
      "quotas.account-publish-events",
      ValueType.COUNT,
      "0",
      0,
      Quota.PUBLISH_EVENTS.max(),
      "",
      "Like `quotas.publish-events`, for all clients of one account together. 0: no quota."),
  /** Bytes of Publish frames of one account in a second. */
  QUOTAS_ACCOUNT_PUBLISH_BYTES(
      "quotas.account-publish-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.PUBLISH_BYTES.max(),
      "",
      "Like `quotas.publish-bytes`, for all clients of one account together. 0: no quota."),
  /** Subscriptions of one account. */
  QUOTAS_ACCOUNT_SUBSCRIPTIONS(
      "quotas.account-subscriptions",
      ValueType.COUNT,
      "0",
      0,
      Quota.SUBSCRIPTIONS.max(),
      "",
      "Like `quotas.subscriptions`, for all clients of one account together. 0: no quota."),
  /** Bytes that wait for the connections of one account. */
  QUOTAS_ACCOUNT_QUEUE_BYTES(
      "quotas.account-queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.QUEUE_BYTES.max(),
      "",
      "Like `quotas.queue-bytes`, for all clients of one account together. 0: no quota."),
  /** Requests of one account in a second. */
  QUOTAS_ACCOUNT_REQUESTS(
      "quotas.account-requests",
      ValueType.COUNT,
      "0",
      0,
      Quota.REQUESTS.max(),
      "",
      "Like `quotas.requests`, for all clients of one account together. 0: no quota."),
  /** Calls of one account in flight. */
  QUOTAS_ACCOUNT_CALLS(
      "quotas.account-calls",
      ValueType.COUNT,
      "0",
      0,
      Quota.CALLS.max(),
      "",
      "Like `quotas.calls`, for all clients of one account together. 0: no quota."),
  /** Bytes of the events in all journals of one account. */
  QUOTAS_ACCOUNT_DURABLE_BYTES(
      "quotas.account-durable-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.DURABLE_BYTES.max(),
      "",
      "Bytes of the events in all journals of one account, looked at every 5 s. While there are as"
          + " many, its durable topics refuse events with `STORE_FULL`. 0: no quota."),
  /** Journals of one account. */
  QUOTAS_ACCOUNT_JOURNALS(
      "quotas.account-journals",
      ValueType.COUNT,
      "0",
      0,
      Quota.JOURNALS.max(),
      "",
      "Journals of one account. Further ones are not created. 0: no quota."),

  /** Deadline of the HTTP upgrade. */
  TIMEOUTS_UPGRADE(
      "timeouts.upgrade",
      ValueType.TIME,
      "5s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From TCP accept to the finished WebSocket upgrade, including TLS."),
  /** Deadline of the Hello frame. */
  TIMEOUTS_HELLO(
      "timeouts.hello",
      ValueType.TIME,
      "5s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From TCP accept until the bus has answered the client's `Hello`."),
  /** Deadline of a message. */
  TIMEOUTS_MESSAGE(
      "timeouts.message",
      ValueType.TIME,
      "1m",
      Millis.MIN,
      Millis.MAX,
      "",
      "From the first to the last byte of a message, while the bus reads."),
  /** Time between pings. */
  TIMEOUTS_PING_INTERVAL(
      "timeouts.ping-interval",
      ValueType.TIME,
      "25s",
      Millis.MIN,
      Millis.MAX,
      "",
      "Time between pings to a client. Many proxies cut a connection that is idle for 30 to 60 s."),
  /** Wait for a sign of life after a ping. */
  TIMEOUTS_PONG(
      "timeouts.pong",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From a ping to the client's next sign of life. Then the bus closes the connection."),
  /** Time that a full queue may stall publishers. */
  TIMEOUTS_SLOW_SUBSCRIBER(
      "timeouts.slow-subscriber",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.MAX,
      "",
      "How long a `BLOCK` subscriber may read next to nothing from its full queue. Then the bus"
          + " closes it with 4001."),
  /** Wait for the client's Close frame. */
  TIMEOUTS_CLOSE(
      "timeouts.close",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From the bus's Close frame to the client's. Then the bus closes the socket."),
  /** Drain at shutdown. */
  TIMEOUTS_SHUTDOWN(
      "timeouts.shutdown",
      ValueType.TIME,
      "10s",
      0,
      Millis.MAX,
      "",
      "How long a stopping bus delivers what is queued. 0: no wait."),

  /** permessage-deflate. */
  COMPRESSION_ENABLED(
      "compression.enabled",
      ValueType.SWITCH,
      "false",
      "--compression",
      "Offers permessage-deflate (RFC 7692): fewer bytes for more processor time. Messages above"
          + " 256 KiB are never compressed."),
  /** Deflate level. */
  COMPRESSION_LEVEL(
      "compression.level", ValueType.COUNT, "1", 1, 9, "", "Deflate level: 1 is fast, 9 is small."),
  /** Smallest message that is compressed. */
  COMPRESSION_MIN_BYTES(
      "compression.min-bytes",
      ValueType.SIZE,
      "256",
      0,
      Bytes.GIB,
      "",
      "Smallest message that is compressed."),

  /** Shared token of the clients. */
  AUTH_TOKEN(
      "auth.token",
      ValueType.SECRET,
      "",
      "",
      "Token that all clients share and send in `Hello`. Set it in a file or variable: other"
          + " users of the machine can read flags."),
  /** Shared token of the clients in a file. */
  AUTH_TOKEN_FILE(
      "auth.token-file",
      ValueType.FILE,
      "",
      "",
      "File with the token, instead of `auth.token`. Surrounding white space is ignored."),
  /** Clients admitted without credentials. */
  AUTH_ANONYMOUS(
      "auth.anonymous",
      ValueType.ANONYMOUS_SCOPE,
      "auto",
      "",
      "Clients allowed without credentials. `loopback`: local clients that come through no proxy."
          + " `auto`: `nobody` if a token, users, JWT or client certificates are configured, else"
          + " `loopback`."),
  /** Users and their passwords. */
  AUTH_USERS_FILE(
      "auth.users-file",
      ValueType.FILE,
      "",
      "",
      "File with users, one `name:hash:account:roles` per line, read again when it changes. See"
          + " [users](security.md#users)."),
  /** Part of a certificate that names the client. */
  AUTH_CERTIFICATE_SUBJECT(
      "auth.certificate-subject",
      ValueType.CERTIFICATE_SUBJECT,
      "uri-san",
      "",
      "What names the client in its certificate: the one URI or DNS alternative name, or the"
          + " common name."),
  /** Issuer of tokens. */
  AUTH_JWT_ISSUER(
      "auth.jwt.issuer",
      ValueType.LABEL,
      "",
      "",
      "Value that `iss` of a JSON Web Token must have. Required when keys for tokens are set."),
  /** Audience of tokens. */
  AUTH_JWT_AUDIENCE(
      "auth.jwt.audience",
      ValueType.LABEL,
      "",
      "",
      "Value that `aud` of a JSON Web Token must contain. Required when keys for tokens are set."),
  /** Claim with the roles. */
  AUTH_JWT_ROLES_CLAIM(
      "auth.jwt.roles-claim",
      ValueType.CLAIM,
      "",
      "",
      "Claim with roles, besides `eventbus.roles`: a list or names separated by blanks. An exact"
          + " name, or a dotted path such as `realm_access.roles`. Invalid role names are"
          + " ignored."),
  /** Claim with the account. */
  AUTH_JWT_ACCOUNT_CLAIM(
      "auth.jwt.account-claim",
      ValueType.CLAIM,
      "",
      "",
      "Claim with the account, a text or a list of one, instead of `eventbus.account`. An exact"
          + " name, or a dotted path. Tokens without it are refused."),
  /** Algorithms of tokens. */
  AUTH_JWT_ALGORITHMS(
      "auth.jwt.algorithms",
      ValueType.ALGORITHMS,
      "EdDSA,ES256,HS256,PS256,RS256",
      "",
      "Accepted algorithms of signatures. Each key verifies only algorithms of its type."),
  /** Shared key of tokens. */
  AUTH_JWT_SECRET_FILE(
      "auth.jwt.secret-file",
      ValueType.FILE,
      "",
      "",
      "File with the secret of tokens signed with HS…, used byte for byte. At least as long as"
          + " the hash: 32 bytes for HS256."),
  /** Public keys of tokens. */
  AUTH_JWT_PUBLIC_KEYS(
      "auth.jwt.public-keys",
      ValueType.FILE,
      "",
      "",
      "File with public keys of tokens: one key in PEM, or a JSON Web Key Set. Read at the start"
          + " only."),
  /** URL of public keys of tokens. */
  AUTH_JWT_JWKS_URL(
      "auth.jwt.jwks-url",
      ValueType.FETCHED_URL,
      "",
      "",
      "URL of a JSON Web Key Set, fetched again at half of its `max-age` (5 minutes to an hour)."
          + " While it is unreachable, known keys hold for 24 hours."),
  /** Clients that may observe the bus. */
  AUTH_OBSERVE(
      "auth.observe",
      ValueType.CLIENT_SCOPE,
      "loopback",
      "",
      "Clients that may subscribe to `$SYS.…`, which reports on all clients. `loopback`: local"
          + " clients."),
  /** Clients that may stall publishers. */
  AUTH_BLOCK(
      "auth.block",
      ValueType.CLIENT_SCOPE,
      "loopback",
      "",
      "Clients that may subscribe with `BLOCK`, which stalls publishers. `loopback`: local"
          + " clients and clients that have logged in."),
  /** Roles file. */
  AUTH_ROLES_FILE(
      "auth.roles-file",
      ValueType.FILE,
      "",
      "",
      "File with the permissions of roles, instead of `auth.observe` and `auth.block`. Read again"
          + " within seconds, for new connections. See [roles](security.md#roles-and-rules)."),
  /** Key of resumes. */
  AUTH_RESUME_KEY_FILE(
      "auth.resume-key-file",
      ValueType.FILE,
      "",
      "",
      "File with the key that signs producer numbers: 32 bytes or more, the same for all buses of"
          + " a cluster. See [the key of producer numbers](#the-key-of-producer-numbers)."),

  /** Name of the cluster. */
  CLUSTER_ID(
      "cluster.id",
      ValueType.NAME,
      "eventbus",
      "",
      "Name of the cluster. Buses and directories of other clusters are refused."),
  /** Directory of the registry's copy. */
  CLUSTER_DIRECTORY(
      "cluster.directory",
      ValueType.FILE,
      "",
      "--cluster-directory",
      "Directory of this bus's copy of the registry, on a lasting disk; makes it a member of a"
          + " cluster. Empty with `cluster.join`, `cluster.discover`: `registry` in"
          + " `durable.directory`, or `eventbus-data`."),
  /** Links of other buses. */
  CLUSTER_JOIN(
      "cluster.join",
      ValueType.ENDPOINTS,
      "",
      "--join",
      "Addresses for links of the buses, which may include this one; a name may lead to several."
          + " The first start waits for all of them, a later one for any."),
  /** Search on the local network. */
  CLUSTER_DISCOVER(
      "cluster.discover",
      ValueType.SWITCH,
      "false",
      "--discover",
      "Finds other buses on the local network by multicast."),
  /** Minimum number of founders. */
  CLUSTER_FOUNDERS(
      "cluster.founders",
      ValueType.COUNT,
      "1",
      1,
      64,
      "",
      "Fresh buses, this one included, that must meet before they found a cluster. Set it to the"
          + " number you start, if `cluster.join` is one name for all or with `cluster.discover`."),
  /** Address of the links. */
  CLUSTER_HOST(
      "cluster.host",
      ValueType.HOST,
      "",
      "--cluster-host",
      "Address for links of other buses. Empty: all interfaces if there is a secret or TLS, else"
          + " `127.0.0.1`."),
  /** Port of the links. */
  CLUSTER_PORT(
      "cluster.port",
      ValueType.COUNT,
      "8082",
      0,
      65_535,
      "--cluster-port",
      "TCP port for links of other buses. 0: a free port, for tests only."),
  /** Advertised address of the links. */
  CLUSTER_ADVERTISED(
      "cluster.advertised",
      ValueType.ENDPOINT,
      "",
      "",
      "Address at which other buses reach this one. Empty: `cluster.host`, or if that is all"
          + " interfaces, the local address that leads to the others. Default port:"
          + " `cluster.port`."),
  /** Advertised URLs for clients. */
  CLUSTER_CLIENT_URLS(
      "cluster.client-urls",
      ValueType.URLS,
      "",
      "",
      "URLs of this bus for clients, best first; other buses pass them on. Empty: made of"
          + " `listen.host` (all interfaces: host of `cluster.advertised`), `listen.port` and"
          + " `listen.path`."),
  /** Number of voters. */
  CLUSTER_VOTERS(
      "cluster.voters",
      ValueType.COUNT,
      "3",
      1,
      7,
      "",
      "Buses that vote: 1, 3, 5 or 7, the same on all. 3 tolerate one failure, 5 two. Further"
          + " buses have a copy and no vote."),
  /** Failure domain of the bus. */
  CLUSTER_ZONE(
      "cluster.zone",
      ValueType.NAME,
      "default",
      "",
      "What fails together with this bus, such as a rack or data centre. Votes are spread over"
          + " zones."),
  /** Lease of a bus. */
  CLUSTER_LEASE(
      "cluster.lease",
      ValueType.TIME,
      "10s",
      Millis.MIN_LEASE,
      Millis.DAY,
      "",
      "How long a bus counts as alive after its last sign of life; renewed three times in that"
          + " time. Must exceed the longest pause of a process."),
  /** Delay before a voter is replaced. */
  CLUSTER_REPLACE_VOTER_AFTER(
      "cluster.replace-voter-after",
      ValueType.TIME,
      "10m",
      0,
      Millis.MAX,
      "",
      "How long a voter's lease must have expired before another bus gets its vote. Must exceed"
          + " the time of a restart."),
  /** Deadline of leaving. */
  CLUSTER_LEAVE(
      "cluster.leave",
      ValueType.TIME,
      "5s",
      0,
      Millis.DAY,
      "",
      "Longest wait of a stopping bus, after `timeouts.shutdown`, to hand over leadership and"
          + " vote and to report that it leaves. 0: no wait."),
  /** Shared secret of the buses. */
  CLUSTER_SECRET(
      "cluster.secret",
      ValueType.SECRET,
      "",
      "",
      "Secret of all buses, 16 characters or more; use 32 random bytes (`openssl rand -hex 32`)."
          + " It authenticates and does not encrypt. Set it in a file or variable: others can"
          + " read flags."),
  /** File with the shared secret. */
  CLUSTER_SECRET_FILE(
      "cluster.secret-file",
      ValueType.FILE,
      "",
      "",
      "File with the secret, instead of `cluster.secret`. Surrounding white space is ignored."),
  /** Certificate chain of the links. */
  CLUSTER_TLS_CERTIFICATE(
      "cluster.tls-certificate",
      ValueType.FILE,
      "",
      "",
      "PEM file with this bus's certificate chain for links. Together with `cluster.tls-key` and"
          + " `cluster.tls-ca` it turns on TLS between buses."),
  /** Private key of the links. */
  CLUSTER_TLS_KEY(
      "cluster.tls-key",
      ValueType.FILE,
      "",
      "",
      "PEM file with the private key of `cluster.tls-certificate`: PKCS#8, not encrypted."),
  /** Authority of the links. */
  CLUSTER_TLS_CA(
      "cluster.tls-ca",
      ValueType.FILE,
      "",
      "",
      "PEM file with the cluster's own authority. Every certificate of this authority counts as a"
          + " bus of the cluster."),
  /** Multicast group. */
  CLUSTER_DISCOVERY_GROUP(
      "cluster.discovery-group",
      ValueType.HOST,
      "239.255.80.82",
      "",
      "Multicast group of `cluster.discover`. Datagrams stay on the local network (TTL 1)."),
  /** Multicast port. */
  CLUSTER_DISCOVERY_PORT(
      "cluster.discovery-port",
      ValueType.COUNT,
      "8082",
      1,
      65_535,
      "",
      "UDP port of `cluster.discover`."),
  /** Multicast interface. */
  CLUSTER_DISCOVERY_INTERFACE(
      "cluster.discovery-interface",
      ValueType.INTERFACE,
      "",
      "",
      "Network interface of `cluster.discover`, by its name or one of its addresses. Empty: the"
          + " one with the advertised address."),

  /** Moves by an overloaded bus. */
  BALANCE_ENABLED(
      "balance.enabled",
      ValueType.SWITCH,
      "true",
      "",
      "Whether an overloaded bus moves clients to others by itself. Drains and moves that an"
          + " operator asks for work in any case."),
  /** Load above which a bus is overloaded. */
  BALANCE_HIGH_PERCENT(
      "balance.high-percent",
      ValueType.COUNT,
      "85",
      2,
      100,
      "",
      "Load, in percent, above which a bus is overloaded. Load is the highest of: busiest event"
          + " loop, connections, memory for clients, events and bytes where a capacity is set."),
  /** Load below which overload ends. */
  BALANCE_LOW_PERCENT(
      "balance.low-percent",
      ValueType.COUNT,
      "70",
      1,
      99,
      "",
      "Load, in percent, down to which an overloaded bus moves clients, and up to which others"
          + " accept these. Less than `balance.high-percent`."),
  /** Duration of high load that counts as overload. */
  BALANCE_OVERLOAD_AFTER(
      "balance.overload-after",
      ValueType.TIME,
      "2s",
      0,
      Millis.DAY,
      "",
      "How long the load must be high before clients are moved."),
  /** Events that are full load. */
  BALANCE_CAPACITY_EVENTS(
      "balance.capacity-events",
      ValueType.COUNT,
      "0",
      0,
      1_000_000_000,
      "",
      "Events per second, received and sent, that are full load. 0: not counted."),
  /** Bytes that are full load. */
  BALANCE_CAPACITY_BYTES(
      "balance.capacity-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.TIB,
      "",
      "Bytes per second, received and sent, that are full load. 0: not counted."),
  /** Rate of moves. */
  BALANCE_MOVES_PER_SECOND(
      "balance.moves-per-second",
      ValueType.COUNT,
      "200",
      1,
      100_000,
      "",
      "Clients that may begin to move per second. An overloaded bus moves up to four times as"
          + " many, the more the higher its load."),
  /** Pause after a move. */
  BALANCE_COOL_DOWN(
      "balance.cool-down",
      ValueType.TIME,
      "1m",
      0,
      Millis.DAY,
      "",
      "How long a client is not asked to move again after it moved or was asked to. Drains ignore"
          + " it."),
  /** Maximum of moves of one client within a minute. */
  BALANCE_MAX_MOVES_PER_MINUTE(
      "balance.max-moves-per-minute",
      ValueType.COUNT,
      "4",
      1,
      8,
      "",
      "Moves of one client per minute, for any reason. The Java SDK accepts at most 8."),
  /** Deadline of a move. */
  BALANCE_DEADLINE(
      "balance.deadline",
      ValueType.TIME,
      "10s",
      100,
      Millis.DAY,
      "",
      "How long a client may take to move. Then the bus closes it with 4000, and it reconnects."),
  /** Timeout of a drain. */
  BALANCE_DRAIN_TIMEOUT(
      "balance.drain-timeout",
      ValueType.TIME,
      "30s",
      0,
      Millis.DAY,
      "",
      "How long a stopping bus moves its clients before it closes the rest. 0: it closes all at"
          + " once. Whatever kills the process must wait longer."),
  /** Children in a tree. */
  FEDERATION_FANOUT(
      "federation.fanout",
      ValueType.COUNT,
      "8",
      1,
      1024,
      "",
      "Buses to which a bus sends an event itself; those pass it on to the rest. As many as there"
          + " are others: a mesh; 1: a chain. The same on all buses."),
  /** Bytes queued for one lane. */
  FEDERATION_QUEUE_BYTES(
      "federation.queue-bytes",
      ValueType.SIZE,
      "16MiB",
      64 * Bytes.KIB,
      Bytes.TIB,
      "",
      "Unacknowledged bytes on one link to another bus; beyond it publishers wait. Each event"
          + " loop has its own link. The same for each direction of a stream of calls."),
  /** Bytes queued for all lanes. */
  FEDERATION_MEMORY_PERCENT(
      "federation.memory-percent",
      ValueType.COUNT,
      "25",
      1,
      100,
      "",
      "Percent of `limits.memory-bytes` that may wait on all links together; beyond it publishers"
          + " wait. From half of it on, each link may hold only its part of that half."),
  /** Filters told to other buses. */
  FEDERATION_FILTERS(
      "federation.filters",
      ValueType.COUNT,
      "100000",
      1,
      10_000_000,
      "",
      "Different filters and groups of one bus's clients; all buses store those of all. One"
          + " connection may add an eighth. The same on all buses. See"
          + " [filters](#filters-in-a-cluster)."),
  /** Timeout of guarantees that wait for peers. */
  FEDERATION_SYNC_TIMEOUT(
      "federation.sync-timeout",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      60_000,
      "",
      "How long a subscription's `Confirm`, `Drained` and a `Barrier` wait for other buses, and a"
          + " starting bus for their subscription tables."),
  /** Timeout of an unreachable peer. */
  FEDERATION_PEER_TIMEOUT(
      "federation.peer-timeout",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.DAY,
      "",
      "How long events wait for an unreachable bus. Then they count as lost, and nothing waits"
          + " for that bus until it is back."),
  /** Interval of keepalives on lanes. */
  FEDERATION_HEARTBEAT(
      "federation.heartbeat",
      ValueType.TIME,
      "1s",
      Millis.MIN,
      60_000,
      "",
      "Quiet time on a link after which a bus sends a sign of life. The same on all buses."),
  /** Timeout of silence on lanes. */
  FEDERATION_KEEPALIVE_TIMEOUT(
      "federation.keepalive-timeout",
      ValueType.TIME,
      "3s",
      2 * Millis.MIN,
      600_000,
      "",
      "Silence of the other bus after which a link is opened anew. At least twice"
          + " `federation.heartbeat`."),

  /** Default timeout of a request. */
  SERVICES_TIMEOUT(
      "services.timeout",
      ValueType.TIME,
      "30s",
      Millis.MIN,
      600_000,
      "",
      "How long a caller waits for an answer when its request sets no time-out. No request waits"
          + " longer than 10 minutes."),
  /** Longest wait of requests for a member. */
  SERVICES_MAX_WAIT(
      "services.max-wait",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      600_000,
      "",
      "New requests fail with `OVERLOADED` once waiting ones are this old (normal priority: half,"
          + " low: a tenth), at most three quarters of their time-out."),
  /** Retries of a call with other members. */
  SERVICES_RETRIES(
      "services.retries",
      ValueType.COUNT,
      "2",
      0,
      100,
      "",
      "How often an idempotent call goes to another member after the one that had it is lost."),
  /** Budget of repeated calls. */
  SERVICES_RETRY_PERCENT(
      "services.retry-percent",
      ValueType.COUNT,
      "10",
      0,
      100,
      "",
      "Retries per hundred calls of a service. Ten per second on each event loop are always"
          + " allowed."),
  /** Requests that wait. */
  SERVICES_QUEUE_REQUESTS(
      "services.queue-requests",
      ValueType.COUNT,
      "10000",
      1,
      10_000_000,
      "",
      "Requests that may wait for one service. One user may take as much as is left for the"
          + " others."),
  /** Bytes of requests that wait. */
  SERVICES_QUEUE_BYTES(
      "services.queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.TIB,
      "",
      "Bytes of requests that may wait for members on the whole bus. 0: a quarter of"
          + " `limits.memory-bytes`."),
  /** Members of a request to all. */
  SERVICES_MAX_GATHER_MEMBERS(
      "services.max-gather-members",
      ValueType.COUNT,
      "10000",
      1,
      1_000_000,
      "",
      "Members for whose answers one connection may wait at a time, with all its requests to all"
          + " members of a service."),
  /** Time that a lost member counts as present. */
  SERVICES_REJOIN(
      "services.rejoin",
      ValueType.TIME,
      "3s",
      Millis.MIN,
      600_000,
      "",
      "How long a member that has lost its connection counts as present on"
          + " `$SYS.services.<name>`, unless it comes back."),

  /** Directory of durable topics. */
  DURABLE_DIRECTORY(
      "durable.directory",
      ValueType.FILE,
      "",
      "--data",
      "Directory of this bus for durable topics, on a disk that survives restarts. Empty: the bus"
          + " stores no events. In a cluster all buses have one, or none."),

  /** Journals that are there when the bus has started. */
  DURABLE_JOURNALS(
      "durable.journals",
      ValueType.JOURNALS,
      "",
      "",
      "Journals that are created at the start, or have to be as they stand here: name, filters,"
          + " and options of [`eventbus journal create`](durable.md#journals), such as"
          + " `keep=latest`. Not in a cluster."),

  /** Delay before the vote of a replica goes to another bus. */
  DURABLE_REPLACE_AFTER(
      "durable.replace-after",
      ValueType.TIME,
      "10m",
      0,
      Millis.MAX,
      "",
      "How long the lease of a bus with a vote on the journals must have expired before another bus"
          + " gets the vote. Must exceed the time of a restart; the same on all buses."),

  /** Interval of a bus's figures. */
  SYS_INTERVAL(
      "sys.interval",
      ValueType.TIME,
      "2s",
      0,
      Millis.MAX,
      "",
      "How often the bus publishes its figures on `$SYS.bus.<name>.stats`, while anything in the"
          + " cluster subscribes to them. 0: never."),

  /** Path of the echo endpoint. */
  DIAGNOSTICS_ECHO_PATH(
      "diagnostics.echo-path",
      ValueType.URL_PATH,
      "",
      "",
      "Path of an endpoint that returns every message, for WebSocket conformance suites. Empty:"
          + " off. Leave it off in production."),
  /** Largest message of the echo endpoint. */
  DIAGNOSTICS_ECHO_MESSAGE_BYTES(
      "diagnostics.echo-message-bytes",
      ValueType.SIZE,
      "16MiB",
      1,
      Bytes.GIB,
      "",
      "Largest message of the echo endpoint. Conformance suites send 16 MiB."),

  /** Existence of the administration port. */
  ADMIN_ENABLED(
      "admin.enabled",
      ValueType.SWITCH,
      "true",
      "",
      "Whether the bus opens the administration port: health, metrics, API."),
  /** Address of the administration port. */
  ADMIN_HOST(
      "admin.host",
      ValueType.HOST,
      "127.0.0.1",
      "--admin-host",
      "Address of the administration port. Any address but loopback requires a login"
          + " (`admin.token-file`, or `admin.account` with users or JWT) and"
          + " `admin.tls-certificate`."),
  /** Port of the administration API. */
  ADMIN_PORT(
      "admin.port",
      ValueType.COUNT,
      "8081",
      0,
      65_535,
      "--admin-port",
      "TCP port of the administration. 0: a free port."),
  /** Names of the administration port. */
  ADMIN_ALLOWED_HOSTS(
      "admin.allowed-hosts",
      ValueType.HOSTS,
      "",
      "",
      "Names in `Host` that the port answers to, besides `localhost`, `admin.host` and, if it"
          + " listens beyond loopback, all IP addresses. `*`: all names, if a proxy decides."),
  /** Condition of operators' login. */
  ADMIN_AUTH(
      "admin.auth",
      ValueType.ADMIN_AUTH,
      "auto",
      "",
      "Whether callers must log in. `auto`: if a token is set, or `admin.host` is not loopback."
          + " `required`: always."),
  /** Token of administrators. */
  ADMIN_TOKEN(
      "admin.token",
      ValueType.SECRET,
      "",
      "",
      "Token of administrators (`Authorization: Bearer`), 16 characters or more. Set it in a file"
          + " or variable: other users of the machine can read flags."),
  /** Token of administrators in a file. */
  ADMIN_TOKEN_FILE(
      "admin.token-file",
      ValueType.FILE,
      "",
      "",
      "File with the token, instead of `admin.token`. Surrounding white space is ignored."),
  /** Account of operators. */
  ADMIN_ACCOUNT(
      "admin.account",
      ValueType.NAME,
      "",
      "",
      "Account of operators: only its users and tokens may administer, by their roles `viewer`,"
          + " `operator` and `admin`. Empty: only the administrators' token may."),
  /** Metrics without a login. */
  ADMIN_METRICS_OPEN(
      "admin.metrics-open",
      ValueType.SWITCH,
      "false",
      "",
      "Whether `/metrics` is available without a login, as `/healthz` and `/readyz` always are."),
  /** Certificate of the administration port. */
  ADMIN_TLS_CERTIFICATE(
      "admin.tls-certificate",
      ValueType.FILE,
      "",
      "",
      "PEM file with the certificate chain of the administration port. Together with"
          + " `admin.tls-key` it turns on TLS."),
  /** Key of the administration port. */
  ADMIN_TLS_KEY(
      "admin.tls-key",
      ValueType.FILE,
      "",
      "",
      "PEM file with the private key of `admin.tls-certificate`: PKCS#8, not encrypted."),
  /** Administration without TLS beyond this machine. */
  ADMIN_PLAINTEXT(
      "admin.plaintext",
      ValueType.SWITCH,
      "false",
      "",
      "Lets other machines use the administration port without TLS, where something else protects"
          + " it: a proxy, or the network of containers on one machine."),

  /** File of the audit log. */
  AUDIT_FILE(
      "audit.file",
      ValueType.FILE,
      "",
      "",
      "File of the [audit log](monitoring.md#audit-log), JSON lines. Empty: entries go to"
          + " `$SYS.audit.…` only."),
  /** Size of a file of the audit log. */
  AUDIT_MAX_BYTES(
      "audit.max-bytes",
      ValueType.SIZE,
      "64MiB",
      64 * Bytes.KIB,
      16 * Bytes.GIB,
      "",
      "Size at which the bus begins another file. Full files get `.1`, `.2` and so on, `.1` the"
          + " newest."),
  /** Number of files of the audit log. */
  AUDIT_FILES("audit.files", ValueType.COUNT, "10", 1, 20, "", "Full files that are retained."),

  /** Log level. */
  LOG_LEVEL(
      "log.level",
      ValueType.LOG_LEVEL,
      "info",
      "--log-level",
      "Least severe log entries that are written, always to standard error."),
  /** Log format. */
  LOG_FORMAT(
      "log.format",
      ValueType.LOG_FORMAT,
      "text",
      "--log-format",
      "`text` for people, `json` (an object a line) for log collectors.");

  private static final Map<String, ConfigKey> BY_KEY =
      Arrays.stream(values())
          .collect(Collectors.toUnmodifiableMap(ConfigKey::key, Function.identity()));

  private final String key;
  private final ValueType type;
  private final String defaultText;
  private final long min;
  private final long max;
  private final String flag;
  private final String reason;

  ConfigKey(String key, ValueType type, String defaultText, String flag, String reason) {
    this(key, type, defaultText, 0, 0, flag, reason);
  }

  ConfigKey(
      String key,
      ValueType type,
      String defaultText,
      long min,
      long max,
      String flag,
      String reason) {
    this.key = key;
    this.type = type;
    this.defaultText = defaultText;
    this.min = min;
    this.max = max;
    this.flag = flag;
    this.reason = reason;
  }

  /**
   * Returns the key as it stands in a file, for example {@code limits.payload-bytes}.
   *
   * @return dotted kebab-case name
   */
  public String key() {
    return key;
  }

  /**
   * Returns the type of the key's values.
   *
   * @return type, which also knows how to read and print values
   */
  public ValueType type() {
    return type;
  }

  /**
   * Returns the default as it would be written in a file.
   *
   * @return text of the default, empty for none
   */
  public String defaultText() {
    return defaultText;
  }

  /**
   * Returns the command line's own flag for this key; every key can also be set with {@code --set}.
   *
   * @return flag with its dashes, empty when there is none
   */
  public String flag() {
    return flag;
  }

  /**
   * Returns what the key does.
   *
   * @return a sentence or two of at most 200 characters together, in Markdown
   */
  public String reason() {
    return reason;
  }

  /**
   * Returns the environment variable that sets this key, for example {@code
   * EVENTBUS_LIMITS_PAYLOAD_BYTES}.
   *
   * @return name of the variable
   */
  public String variable() {
    return variable(key);
  }

  static String variable(String key) {
    return "EVENTBUS_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /**
   * Returns the legal values, for people.
   *
   * @return for example "1 to 9" or "true or false"
   */
  public String range() {
    return type.numeric() ? type.print(min) + " to " + type.print(max) : type.expectation();
  }

  /**
   * Finds a key by its name.
   *
   * @param key dotted kebab-case name
   * @return the key, or nothing when there is none of this name
   */
  public static Optional<ConfigKey> find(String key) {
    return Optional.ofNullable(BY_KEY.get(key));
  }

  /**
   * Reads a number of this key and checks its range.
   *
   * @param text value as written in a file
   * @return a count, bytes or milliseconds
   * @throws IllegalArgumentException if the text is not of the key's type or out of range
   */
  long number(String text) {
    long value;
    try {
      value = type.read(text);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          key + ": \"" + text + "\" (expected: " + type.expectation() + ", " + range() + ")", e);
    }
    return inRange(value);
  }

  long inRange(long value) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          key + ": " + type.print(value) + " (expected: " + range() + ")");
    }
    return value;
  }

  Duration inRange(Duration value) {
    long millis;
    try {
      millis = value.toMillis();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(key + ": " + value + " (expected: " + range() + ")", e);
    }
    inRange(millis);
    return value;
  }

  /** Sizes as written in the table above. */
  private static final class Bytes {
    static final long KIB = 1L << 10;
    static final long MIB = 1L << 20;
    static final long GIB = 1L << 30;
    static final long TIB = 1L << 40;
    static final long PIB = 1L << 50;

    private Bytes() {}
  }

  /** Times as written in the table above. */
  private static final class Millis {
    /** Shorter deadlines are only missed by accident. */
    static final long MIN = 50;

    static final long MIN_LEASE = 500;
    static final long DAY = 24L * 3600 * 1000;
    static final long MAX = 365L * 24 * 3600 * 1000;

    private Millis() {}
  }
}
