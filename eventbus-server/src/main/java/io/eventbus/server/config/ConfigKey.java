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
 * flags, the effective configuration as printed, and the table in {@code docs/operations.md}.
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
      "Name of this bus in logs, in `Welcome` and in the administration API; empty makes `bus-` and"
          + " 8 random hexadecimal digits at start, which a bus in a cluster keeps in its"
          + " directory."),

  /** Address to listen on. */
  LISTEN_HOST(
      "listen.host",
      ValueType.HOST,
      "0.0.0.0",
      "--host",
      "Address to listen on for clients. All interfaces, because a bus is there for other machines;"
          + " `127.0.0.1` keeps it to this one."),
  /** Port to listen on. */
  LISTEN_PORT(
      "listen.port",
      ValueType.COUNT,
      "8080",
      0,
      65_535,
      "--port",
      "TCP port for clients; 0 takes a free one."),
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
      "Threads that serve connections; 0 is one for each core."),
  /** Socket implementation. */
  LISTEN_TRANSPORT(
      "listen.transport",
      ValueType.TRANSPORT,
      "auto",
      "",
      "`epoll` is Linux only and the fastest; `auto` takes it where there is one."),
  /** Accept backlog. */
  LISTEN_BACKLOG(
      "listen.backlog",
      ValueType.COUNT,
      "4096",
      1,
      65_535,
      "",
      "Connections that may wait to be accepted; the kernel caps it (`net.core.somaxconn`)."),
  /** Open connections. */
  LISTEN_MAX_CONNECTIONS(
      "listen.max-connections",
      ValueType.COUNT,
      "100000",
      1,
      10_000_000,
      "",
      "Open client connections. Those beyond are not counted as open: at most 64 at a time get an"
          + " answer (503) and a second to read it, the others are closed at once."),

  /** Sites whose pages may connect. */
  LISTEN_ALLOWED_ORIGINS(
      "listen.allowed-origins",
      ValueType.ORIGINS,
      "",
      "",
      "Sites whose pages may connect from a browser; `*` lets every page in. A page of the bus's"
          + " own site, or of its administration port, may where that is `localhost`, an IP address"
          + " or `listen.host`; under another name it has to stand here, because any name can be"
          + " made to lead to this machine. Programs that are not browsers send no `Origin` and are"
          + " not asked."),
  /** Pages that stall publishers. */
  LISTEN_BROWSER_BLOCK(
      "listen.browser-block",
      ValueType.BROWSER_BLOCK,
      "refuse",
      "",
      "Whether clients in a browser, known by the `Origin` and the `User-Agent` of their upgrade,"
          + " may subscribe with the policy `BLOCK`: a page that is stopped, or a computer that"
          + " sleeps, would stall publishers. With `allow` they may if they are allowed to"
          + " otherwise."),
  /** Addresses of proxies. */
  LISTEN_PROXIES(
      "listen.proxies",
      ValueType.NETWORKS,
      "",
      "",
      "Reverse proxies in front of the bus. Only from these is the client's own address taken: from"
          + " the PROXY protocol (versions 1 and 2), or else from `Forwarded` or"
          + " `X-Forwarded-For`. Limits for an address then hold for the client's, not for the"
          + " proxy's."),

  /** Certificate chain. */
  TLS_CERTIFICATE(
      "tls.certificate",
      ValueType.FILE,
      "",
      "--tls-certificate",
      "PEM file with the certificate chain; turns TLS on together with `tls.key`."),
  /** Private key. */
  TLS_KEY(
      "tls.key",
      ValueType.FILE,
      "",
      "--tls-key",
      "PEM file with the private key (PKCS#8, not encrypted)."),

  /** Authority of clients. */
  TLS_CLIENT_CA(
      "tls.client-ca",
      ValueType.FILE,
      "",
      "",
      "PEM file with the certificates of the authority of clients' certificates; needed with"
          + " `tls.client-auth`."),
  /** Certificates of clients. */
  TLS_CLIENT_AUTH(
      "tls.client-auth",
      ValueType.CLIENT_AUTH,
      "none",
      "",
      "Whether clients are asked for a certificate: `optional` lets those without one prove in"
          + " another way who they are, `required` ends their handshake."),

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
      "Largest WebSocket message; must hold the largest event: payload, headers and 16 KiB more."),
  /** Headers of one event. */
  LIMITS_HEADERS(
      "limits.headers",
      ValueType.COUNT,
      "64",
      0,
      1024,
      "",
      "Largest number of headers of one event."),
  /** Bytes of all headers of one event. */
  LIMITS_HEADER_BYTES(
      "limits.header-bytes",
      ValueType.SIZE,
      "16KiB",
      0,
      16 * Bytes.MIB,
      "",
      "Largest sum of all header names and values of one event."),
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
      "Heap that the subscriptions of all connections may take, by estimate; 0 is a quarter of the"
          + " JVM's heap. What one takes stands [below](#memory-of-subscriptions)."),
  /** Groups of one connection. */
  LIMITS_GROUPS(
      "limits.groups",
      ValueType.COUNT,
      "32",
      1,
      1024,
      "",
      "Different groups that one connection may be a member of: each that an event matches costs"
          + " time for that event."),
  /** Groups of one topic. */
  LIMITS_TOPIC_GROUPS(
      "limits.topic-groups",
      ValueType.COUNT,
      "1024",
      16,
      65_536,
      "",
      "Different groups among the subscriptions with wildcards of all clients of an account, and"
          + " again among those to one topic by its name: a member is chosen in each for every"
          + " event. When half of them are taken, only a connection without another group may bring"
          + " in one."),
  /** Patterns of wildcards in all filters. */
  LIMITS_WILDCARD_PATTERNS(
      "limits.wildcard-patterns",
      ValueType.COUNT,
      "1024",
      16,
      65_536,
      "",
      "Different patterns of wildcards among the filters of all clients of an account, where"
          + " `a.*.>` and `b.*.>` have the same: what it takes to look up a topic grows with them."
          + " One connection may bring in a sixteenth."),
  /** Accounts that have clients. */
  LIMITS_ACCOUNTS(
      "limits.accounts",
      ValueType.COUNT,
      "1000",
      0,
      100_000,
      "",
      "Accounts that may have clients at this bus at once, besides the default one. A client of one"
          + " more gets `Problem(LIMIT_EXCEEDED)` and is closed with 4003."),
  /** Bytes queued for one connection. */
  LIMITS_QUEUE_BYTES(
      "limits.queue-bytes",
      ValueType.SIZE,
      "8MiB",
      2 * Bytes.KIB,
      Bytes.TIB,
      "",
      "Bytes that may wait for one subscriber before its overflow policy acts; at least twice"
          + " `limits.message-bytes`."),
  /** Bytes queued on the whole bus. */
  LIMITS_MEMORY_BYTES(
      "limits.memory-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.PIB,
      "",
      "Bytes that may wait on the whole bus; 0 is a quarter of the JVM's heap, or half of its"
          + " direct memory if that is less. At the limit nothing is read from publishers, and the"
          + " connections that hold the most and take the least are closed. Of it an eighth is for"
          + " short and a quarter for long messages that have not come whole yet, at most half for"
          + " [calls and tunnels](#memory-of-services), and at most half for registrations of"
          + " services."),
  /** Largest message before Welcome. */
  LIMITS_HELLO_BYTES(
      "limits.hello-bytes",
      ValueType.SIZE,
      "64KiB",
      Bytes.KIB,
      Bytes.GIB,
      "",
      "Largest message from a client that the bus has not welcomed yet."),
  /** Connections of one address. */
  LIMITS_ADDRESS_CONNECTIONS(
      "limits.address-connections",
      ValueType.COUNT,
      "4000",
      0,
      10_000_000,
      "",
      "Open connections of one client address; 0 for no limit. The limits for an address do not"
          + " hold for loopback; of IPv6 a /64 network counts as one address."),
  /** Unfinished handshakes of one address. */
  LIMITS_ADDRESS_HANDSHAKES(
      "limits.address-handshakes",
      ValueType.COUNT,
      "1000",
      0,
      10_000_000,
      "",
      "Connections of one client address that have not been welcomed yet; 0 for no limit."),
  /** Rate of handshakes of one address. */
  LIMITS_ADDRESS_HANDSHAKE_RATE(
      "limits.address-handshake-rate",
      ValueType.COUNT,
      "200",
      0,
      1_000_000,
      "",
      "New connections of one client address each second, on the average of ten; 0 for no limit."),
  /** Share of one address. */
  LIMITS_ADDRESS_MEMORY_PERCENT(
      "limits.address-memory-percent",
      ValueType.COUNT,
      "25",
      1,
      100,
      "",
      "Percent of `limits.subscription-bytes`, and of `federation.filters` where half is taken,"
          + " that the connections of one client address may hold together; of"
          + " `limits.memory-bytes` more is a reason to be among the first to go."),
  /** Calls of one connection. */
  LIMITS_CALLS(
      "limits.calls",
      ValueType.COUNT,
      "4096",
      1,
      1_000_000,
      "",
      "Calls of one connection that may be in flight, those that it has cancelled and"
          + " the member has not answered among them."),
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
      "Streams and tunnels of one connection that may be open, those that it has asked for"
          + " and those that it serves."),
  /** Buffer of one connection's streams and tunnels. */
  LIMITS_TUNNEL_BUFFER_BYTES(
      "limits.tunnel-buffer-bytes",
      ValueType.SIZE,
      "8MiB",
      64 << 10,
      1L << 30,
      "",
      "Data of streams and tunnels that may wait for one connection, at least 2 KiB for each"
          + " of `limits.tunnels`: senders are told to send no more."),
  /** Budget of stalls under `BLOCK`. */
  LIMITS_BLOCK_STALL_TIME(
      "limits.block-stall-time",
      ValueType.TIME,
      "5s",
      0,
      Millis.MAX,
      "",
      "Time in a minute that the subscribers of one identity under `BLOCK`, or of one address if"
          + " they have no name, may stall publishers while other subscribers of these have nothing"
          + " to read; from then on their policy is `DROP_OLDEST`. 0 for no limit."),

  /** Open connections of one identity. */
  QUOTAS_CONNECTIONS(
      "quotas.connections",
      ValueType.COUNT,
      "0",
      0,
      Quota.CONNECTIONS.max(),
      "",
      "Open connections of one identity, on this bus; 0 for no quota. Connections that are over it"
          + " get `Problem(LIMIT_EXCEEDED)` and are closed with 4003. The identity is account and"
          + " name; clients without a name count as one. A role or a token may say another value."),
  /** Events that one identity publishes in a second. */
  QUOTAS_PUBLISH_EVENTS(
      "quotas.publish-events",
      ValueType.COUNT,
      "0",
      0,
      Quota.PUBLISH_EVENTS.max(),
      "",
      "Events that one identity publishes in a second, on this bus; 0 for no quota. The bus does"
          + " not read its connections while they are over it; nothing is lost."),
  /** Bytes that one identity sends in a second. */
  QUOTAS_PUBLISH_BYTES(
      "quotas.publish-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.PUBLISH_BYTES.max(),
      "",
      "Bytes of `Publish`, `Request`, `Reply`, `Failure` and `Data` frames of one identity in a"
          + " second, on this bus; 0 for no quota. The same holds."),
  /** Subscriptions of one identity. */
  QUOTAS_SUBSCRIPTIONS(
      "quotas.subscriptions",
      ValueType.COUNT,
      "0",
      0,
      Quota.SUBSCRIPTIONS.max(),
      "",
      "Subscriptions of one identity, on this bus; 0 for no quota. More get"
          + " `Problem(LIMIT_EXCEEDED)`."),
  /** Bytes that wait for the connections of one identity. */
  QUOTAS_QUEUE_BYTES(
      "quotas.queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.QUEUE_BYTES.max(),
      "",
      "Bytes that wait for the connections of one identity, on this bus; 0 for no quota. While they"
          + " are over it, the queue of each holds at most its equal part, as if that were"
          + " `limits.queue-bytes`."),
  /** Requests of one identity in a second. */
  QUOTAS_REQUESTS(
      "quotas.requests",
      ValueType.COUNT,
      "0",
      0,
      Quota.REQUESTS.max(),
      "",
      "Requests to services by one identity in a second, on this bus; 0 for no quota. More fail"
          + " with `OVERLOADED`, not executed, and say when to try again."),
  /** Calls of one identity in flight. */
  QUOTAS_CALLS(
      "quotas.calls",
      ValueType.COUNT,
      "0",
      0,
      Quota.CALLS.max(),
      "",
      "Calls of one identity in flight, on this bus; 0 for no quota. More fail in the same way."),
  /** Open connections of one account. */
  QUOTAS_ACCOUNT_CONNECTIONS(
      "quotas.account-connections",
      ValueType.COUNT,
      "0",
      0,
      Quota.CONNECTIONS.max(),
      "",
      "The same as `quotas.connections`, for all clients of one account together. A roles file may"
          + " say another value for an account."),
  /** Events that one account publishes in a second. */
  QUOTAS_ACCOUNT_PUBLISH_EVENTS(
      "quotas.account-publish-events",
      ValueType.COUNT,
      "0",
      0,
      Quota.PUBLISH_EVENTS.max(),
      "",
      "The same as `quotas.publish-events`, for all clients of one account together."),
  /** Bytes of Publish frames of one account in a second. */
  QUOTAS_ACCOUNT_PUBLISH_BYTES(
      "quotas.account-publish-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.PUBLISH_BYTES.max(),
      "",
      "The same as `quotas.publish-bytes`, for all clients of one account together."),
  /** Subscriptions of one account. */
  QUOTAS_ACCOUNT_SUBSCRIPTIONS(
      "quotas.account-subscriptions",
      ValueType.COUNT,
      "0",
      0,
      Quota.SUBSCRIPTIONS.max(),
      "",
      "The same as `quotas.subscriptions`, for all clients of one account together."),
  /** Bytes that wait for the connections of one account. */
  QUOTAS_ACCOUNT_QUEUE_BYTES(
      "quotas.account-queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Quota.QUEUE_BYTES.max(),
      "",
      "The same as `quotas.queue-bytes`, for all clients of one account together."),
  /** Requests of one account in a second. */
  QUOTAS_ACCOUNT_REQUESTS(
      "quotas.account-requests",
      ValueType.COUNT,
      "0",
      0,
      Quota.REQUESTS.max(),
      "",
      "The same as `quotas.requests`, for all clients of one account together."),
  /** Calls of one account in flight. */
  QUOTAS_ACCOUNT_CALLS(
      "quotas.account-calls",
      ValueType.COUNT,
      "0",
      0,
      Quota.CALLS.max(),
      "",
      "The same as `quotas.calls`, for all clients of one account together."),

  /** Deadline of the HTTP upgrade. */
  TIMEOUTS_UPGRADE(
      "timeouts.upgrade",
      ValueType.TIME,
      "5s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From TCP accept to the finished WebSocket upgrade, TLS included."),
  /** Deadline of the Hello frame. */
  TIMEOUTS_HELLO(
      "timeouts.hello",
      ValueType.TIME,
      "5s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From TCP accept until the client is let in: its `Hello` has come and is answered."),
  /** Deadline of a message. */
  TIMEOUTS_MESSAGE(
      "timeouts.message",
      ValueType.TIME,
      "1m",
      Millis.MIN,
      Millis.MAX,
      "",
      "From the first byte of a message to its last, while the bus reads."),
  /** Time between pings. */
  TIMEOUTS_PING_INTERVAL(
      "timeouts.ping-interval",
      ValueType.TIME,
      "25s",
      Millis.MIN,
      Millis.MAX,
      "",
      "Time between pings to a client; below the 30 to 60 s after which many proxies cut an idle"
          + " connection."),
  /** Wait for a sign of life after a ping. */
  TIMEOUTS_PONG(
      "timeouts.pong",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From a ping to the next sign of life; then the connection is closed."),
  /** Time that a full queue may stall publishers. */
  TIMEOUTS_SLOW_SUBSCRIBER(
      "timeouts.slow-subscriber",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.MAX,
      "",
      "How long a subscriber with the policy BLOCK may take next to nothing from a full queue; then it"
          + " is closed with 4001."),
  /** Wait for the client's Close frame. */
  TIMEOUTS_CLOSE(
      "timeouts.close",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      Millis.MAX,
      "",
      "From the bus's Close frame to the client's; then the socket is closed."),
  /** Drain at shutdown. */
  TIMEOUTS_SHUTDOWN(
      "timeouts.shutdown",
      ValueType.TIME,
      "10s",
      0,
      Millis.MAX,
      "",
      "How long a stopping bus goes on delivering what is queued; 0 does not wait."),

  /** permessage-deflate. */
  COMPRESSION_ENABLED(
      "compression.enabled",
      ValueType.SWITCH,
      "false",
      "--compression",
      "Offers permessage-deflate (RFC 7692); it saves bytes and costs processor time; messages of"
          + " more than 256 KiB are sent as they are."),
  /** Deflate level. */
  COMPRESSION_LEVEL(
      "compression.level", ValueType.COUNT, "1", 1, 9, "", "Deflate level, 1 (fast) to 9 (small)."),
  /** Smallest message that is compressed. */
  COMPRESSION_MIN_BYTES(
      "compression.min-bytes",
      ValueType.SIZE,
      "256",
      0,
      Bytes.GIB,
      "",
      "Messages below this size are sent as they are: deflate hardly makes them smaller."),

  /** Shared token of the clients. */
  AUTH_TOKEN(
      "auth.token",
      ValueType.SECRET,
      "",
      "",
      "Token that all clients share and show in `Hello`. Give it in the file or the environment:"
          + " other users of the machine can read flags."),
  /** Shared token of the clients in a file. */
  AUTH_TOKEN_FILE(
      "auth.token-file",
      ValueType.FILE,
      "",
      "",
      "File with that token, instead of `auth.token`; white space around it does not count."),
  /** Clients admitted without credentials. */
  AUTH_ANONYMOUS(
      "auth.anonymous",
      ValueType.ANONYMOUS_SCOPE,
      "auto",
      "",
      "Which clients are let in that show no credentials: with `loopback` those of this machine;"
          + " `auto` is `nobody` where `auth.token`, `auth.users-file`, `auth.jwt.…` or"
          + " `tls.client-auth` is set, else `loopback`. Requests that a proxy has passed on"
          + " (`Forwarded`, `X-Forwarded-…`, `X-Real-IP`, `Via`) are not of this machine."),
  /** Users and their passwords. */
  AUTH_USERS_FILE(
      "auth.users-file",
      ValueType.FILE,
      "",
      "",
      "File with users: lines of `name:hash:account:roles`, the hash of `eventbus hash-password`,"
          + " or `*` for a client with a certificate; read again when it changes"
          + " ([security](security.md#users))."),
  /** Part of a certificate that names the client. */
  AUTH_CERTIFICATE_SUBJECT(
      "auth.certificate-subject",
      ValueType.CERTIFICATE_SUBJECT,
      "uri-san",
      "",
      "What of a client's certificate is its name: its one URI or DNS name (subject alternative"
          + " names), or the common name."),
  /** Issuer of tokens. */
  AUTH_JWT_ISSUER(
      "auth.jwt.issuer",
      ValueType.LABEL,
      "",
      "",
      "What `iss` of a JSON Web Token has to be; needed with keys for them."),
  /** Audience of tokens. */
  AUTH_JWT_AUDIENCE(
      "auth.jwt.audience",
      ValueType.LABEL,
      "",
      "",
      "What `aud` of a JSON Web Token has to contain; needed with keys for them."),
  /** Claim with the roles. */
  AUTH_JWT_ROLES_CLAIM(
      "auth.jwt.roles-claim",
      ValueType.CLAIM,
      "",
      "",
      "Claim of a JSON Web Token with roles, beside `eventbus.roles`: a list, or names with blanks"
          + " between, such as `realm_access.roles`, `roles`, `cognito:groups` or `scope`. A claim"
          + " of exactly that name, or a path with dots. What cannot be a role's name is passed"
          + " over."),
  /** Claim with the account. */
  AUTH_JWT_ACCOUNT_CLAIM(
      "auth.jwt.account-claim",
      ValueType.CLAIM,
      "",
      "",
      "Claim of a JSON Web Token with the account, in place of `eventbus.account`: a text, or a"
          + " list of one. A claim of exactly that name, or a path with dots. A token without it is"
          + " refused."),
  /** Algorithms of tokens. */
  AUTH_JWT_ALGORITHMS(
      "auth.jwt.algorithms",
      ValueType.ALGORITHMS,
      "EdDSA,ES256,HS256,PS256,RS256",
      "",
      "With which algorithms JSON Web Tokens may be signed; each only with a key of its type."),
  /** Shared key of tokens. */
  AUTH_JWT_SECRET_FILE(
      "auth.jwt.secret-file",
      ValueType.FILE,
      "",
      "",
      "File with the secret of tokens that are signed with HS…: as many bytes as the algorithm's"
          + " hash has (32 for HS256) or more, taken as they are."),
  /** Public keys of tokens. */
  AUTH_JWT_PUBLIC_KEYS(
      "auth.jwt.public-keys",
      ValueType.FILE,
      "",
      "",
      "File with public keys of tokens: one in PEM, or a JSON Web Key Set; read at the start."),
  /** URL of public keys of tokens. */
  AUTH_JWT_JWKS_URL(
      "auth.jwt.jwks-url",
      ValueType.FETCHED_URL,
      "",
      "",
      "Where a JSON Web Key Set with public keys of tokens is fetched, and again at half of its"
          + " `max-age` (after 5 minutes to an hour); where it cannot be, the keys that it had hold"
          + " for 24 hours."),
  /** Clients that may observe the bus. */
  AUTH_OBSERVE(
      "auth.observe",
      ValueType.CLIENT_SCOPE,
      "loopback",
      "",
      "Who may subscribe to the topics of the system (`$SYS.…`), which tell of all clients: with"
          + " `loopback` the clients of this machine."),
  /** Clients that may stall publishers. */
  AUTH_BLOCK(
      "auth.block",
      ValueType.CLIENT_SCOPE,
      "loopback",
      "",
      "Who may subscribe with the policy `BLOCK`, which stalls publishers: with `loopback` the"
          + " clients of this machine and those that have proved who they are."),
  /** Roles file. */
  AUTH_ROLES_FILE(
      "auth.roles-file",
      ValueType.FILE,
      "",
      "",
      "File that says what clients may do by their roles, in place of `auth.observe` and"
          + " `auth.block`. It is looked at every 3 s, and a change holds for clients that connect"
          + " from then on. Without it clients may do everything but what these two keys say."),
  /** Key of resumes. */
  AUTH_RESUME_KEY_FILE(
      "auth.resume-key-file",
      ValueType.FILE,
      "",
      "",
      "File with the secret that producer numbers are signed with, at least 32 bytes, the same for"
          + " all buses of a cluster. Without it a bus in a cluster derives one from the cluster's"
          + " secret, and a bus alone keeps one in `.eventbus/resume-key` of the user's home. A"
          + " cluster with TLS and no secret needs it."),

  /** Name of the cluster. */
  CLUSTER_ID(
      "cluster.id",
      ValueType.NAME,
      "eventbus",
      "",
      "Name of the cluster. Buses of different names refuse each other, and a directory that"
          + " belongs to another one is refused."),
  /** Directory of the registry's copy. */
  CLUSTER_DIRECTORY(
      "cluster.directory",
      ValueType.FILE,
      "",
      "--cluster-directory",
      "Directory in which this bus keeps its copy of the registry, of its own and on a disk that"
          + " survives a restart; makes the bus a member of a cluster, a new one of its own if it"
          + " is not told of others. Empty with `cluster.join` or `cluster.discover` is"
          + " `eventbus-data` where the bus is started; without them the bus serves alone and needs"
          + " none."),
  /** Links of other buses. */
  CLUSTER_JOIN(
      "cluster.join",
      ValueType.ENDPOINTS,
      "",
      "--join",
      "Where the links of other buses are; a name may lead to several addresses, and this bus may"
          + " be among them. The first start of a cluster waits for all of them; later one that"
          + " answers is enough."),
  /** Search on the local network. */
  CLUSTER_DISCOVER(
      "cluster.discover",
      ValueType.SWITCH,
      "false",
      "--discover",
      "Looks for other buses on the local network by multicast."),
  /** Minimum number of founders. */
  CLUSTER_FOUNDERS(
      "cluster.founders",
      ValueType.COUNT,
      "1",
      1,
      64,
      "",
      "How many fresh buses, this one included, must have found each other before they found a"
          + " cluster. Set it to the number that you start where `cluster.join` is one name for all"
          + " of them, or they look for each other by multicast: so that none of them, when it sees"
          + " no other yet, begins a cluster of its own."),
  /** Address of the links. */
  CLUSTER_HOST(
      "cluster.host",
      ValueType.HOST,
      "",
      "--cluster-host",
      "Address to listen on for other buses. Empty is all interfaces where there is a secret or"
          + " TLS, else `127.0.0.1`: beyond this machine strangers have to be kept out."),
  /** Port of the links. */
  CLUSTER_PORT(
      "cluster.port",
      ValueType.COUNT,
      "8082",
      0,
      65_535,
      "--cluster-port",
      "TCP port for other buses; 0 takes a free one, for tests only."),
  /** Advertised address of the links. */
  CLUSTER_ADVERTISED(
      "cluster.advertised",
      ValueType.ENDPOINT,
      "",
      "",
      "Where other buses reach this one. Empty is `cluster.host`, or where that is all interfaces"
          + " the address of the one that leads to the others; without a port it is"
          + " `cluster.port`."),
  /** Advertised URLs for clients. */
  CLUSTER_CLIENT_URLS(
      "cluster.client-urls",
      ValueType.URLS,
      "",
      "",
      "Where clients reach this bus, as told to other buses and their clients, the best first."
          + " Empty is made of `listen.host`, or where that is all interfaces the host of"
          + " `cluster.advertised`, with `listen.port` and `listen.path`."),
  /** Number of voters. */
  CLUSTER_VOTERS(
      "cluster.voters",
      ValueType.COUNT,
      "3",
      1,
      7,
      "",
      "How many buses vote: 1, 3, 5 or 7; the same on all. With 3 one of them may fail, with 5 two;"
          + " every further bus only follows."),
  /** Failure domain of the bus. */
  CLUSTER_ZONE(
      "cluster.zone",
      ValueType.NAME,
      "default",
      "",
      "What fails together with this bus: a rack, a data centre. Votes are spread over zones."),
  /** Lease of a bus. */
  CLUSTER_LEASE(
      "cluster.lease",
      ValueType.TIME,
      "10s",
      Millis.MIN_LEASE,
      Millis.DAY,
      "",
      "How long a bus counts as alive after it was heard of; it is renewed three times in that"
          + " time. Shorter than the longest pause of a process is too short."),
  /** Delay before a voter is replaced. */
  CLUSTER_REPLACE_VOTER_AFTER(
      "cluster.replace-voter-after",
      ValueType.TIME,
      "10m",
      0,
      Millis.MAX,
      "",
      "How long the lease of a voter must have run out before another bus gets its vote; longer"
          + " than a restart takes."),
  /** Deadline of leaving. */
  CLUSTER_LEAVE(
      "cluster.leave",
      ValueType.TIME,
      "5s",
      0,
      Millis.DAY,
      "",
      "How long a stopping bus waits at most, beyond `timeouts.shutdown`, to hand over the"
          + " leadership and its vote and to tell that it leaves; 0 does not wait."),
  /** Shared secret of the buses. */
  CLUSTER_SECRET(
      "cluster.secret",
      ValueType.SECRET,
      "",
      "",
      "Secret that all buses of the cluster share, 16 characters at least; make it of 32 random"
          + " bytes (`openssl rand -hex 32`), because clients hold what a weak one can be guessed"
          + " with. It authenticates buses and encrypts nothing. Give it in a file or the"
          + " environment: other users of the machine can read flags."),
  /** File with the shared secret. */
  CLUSTER_SECRET_FILE(
      "cluster.secret-file",
      ValueType.FILE,
      "",
      "",
      "File with the secret, instead of `cluster.secret`; white space around it does not count."),
  /** Certificate chain of the links. */
  CLUSTER_TLS_CERTIFICATE(
      "cluster.tls-certificate",
      ValueType.FILE,
      "",
      "",
      "PEM file with this bus's certificate chain for links to other buses; turns TLS between buses"
          + " on together with `cluster.tls-key` and `cluster.tls-ca`."),
  /** Private key of the links. */
  CLUSTER_TLS_KEY(
      "cluster.tls-key",
      ValueType.FILE,
      "",
      "",
      "PEM file with the private key of that certificate (PKCS#8, not encrypted)."),
  /** Authority of the links. */
  CLUSTER_TLS_CA(
      "cluster.tls-ca",
      ValueType.FILE,
      "",
      "",
      "PEM file with the certificates of the cluster's own authority: whoever has a certificate of"
          + " it is taken for a bus of the cluster."),
  /** Multicast group. */
  CLUSTER_DISCOVERY_GROUP(
      "cluster.discovery-group",
      ValueType.HOST,
      "239.255.80.82",
      "",
      "Multicast group of `cluster.discover`; datagrams stay on the local network (TTL 1)."),
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
      "Network interface of `cluster.discover`, by its name or one of its addresses. Empty is the"
          + " one with the address that this bus advertises."),

  /** Moves by an overloaded bus. */
  BALANCE_ENABLED(
      "balance.enabled",
      ValueType.SWITCH,
      "true",
      "",
      "Whether a bus of a cluster that has too much to do moves clients to others by itself. What"
          + " an operator asks for, and a stopping bus, moves them in any case."),
  /** Load above which a bus is overloaded. */
  BALANCE_HIGH_PERCENT(
      "balance.high-percent",
      ValueType.COUNT,
      "85",
      2,
      100,
      "",
      "A bus is overloaded when its load has been above this for `balance.overload-after`. The load"
          + " is the fullest of: processor time of the busiest event loop, events and bytes a"
          + " second where a capacity is set, open connections, memory held for clients."),
  /** Load below which overload ends. */
  BALANCE_LOW_PERCENT(
      "balance.low-percent",
      ValueType.COUNT,
      "70",
      1,
      99,
      "",
      "An overloaded bus moves clients until its load is below this, and no bus lets itself be"
          + " filled beyond it; less than `balance.high-percent`."),
  /** Duration of high load that counts as overload. */
  BALANCE_OVERLOAD_AFTER(
      "balance.overload-after",
      ValueType.TIME,
      "2s",
      0,
      Millis.DAY,
      "",
      "How long the load must have been high before clients are moved."),
  /** Events that are full load. */
  BALANCE_CAPACITY_EVENTS(
      "balance.capacity-events",
      ValueType.COUNT,
      "0",
      0,
      1_000_000_000,
      "",
      "Events a second, received and sent, that count as full load; 0 does not count them."),
  /** Bytes that are full load. */
  BALANCE_CAPACITY_BYTES(
      "balance.capacity-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.TIB,
      "",
      "Bytes a second, received and sent, that count as full load; 0 does not count them."),
  /** Rate of moves. */
  BALANCE_MOVES_PER_SECOND(
      "balance.moves-per-second",
      ValueType.COUNT,
      "200",
      1,
      100_000,
      "",
      "How many clients may begin to move in a second: each makes a new connection. From a bus that"
          + " is overloaded the more the fuller it is, up to four times as many from one that is as"
          + " full as can be."),
  /** Pause after a move. */
  BALANCE_COOL_DOWN(
      "balance.cool-down",
      ValueType.TIME,
      "1m",
      0,
      Millis.DAY,
      "",
      "How long a client that was moved because of overload, or asked to, is left alone."),
  /** Maximum of moves of one client within a minute. */
  BALANCE_MAX_MOVES_PER_MINUTE(
      "balance.max-moves-per-minute",
      ValueType.COUNT,
      "4",
      1,
      8,
      "",
      "How often one client may be moved within a minute, for whatever reason; the Java SDK does"
          + " not let itself be moved more than 8 times."),
  /** Deadline of a move. */
  BALANCE_DEADLINE(
      "balance.deadline",
      ValueType.TIME,
      "10s",
      100,
      Millis.DAY,
      "",
      "How long a client may take to move; then it is closed with 4000 and reconnects."),
  /** Timeout of a drain. */
  BALANCE_DRAIN_TIMEOUT(
      "balance.drain-timeout",
      ValueType.TIME,
      "30s",
      0,
      Millis.DAY,
      "",
      "How long a stopping bus of a cluster goes on moving its clients before it closes those that"
          + " are left; 0 closes all at once. What kills the process must wait longer."),
  /** Children in a tree. */
  FEDERATION_FANOUT(
      "federation.fanout",
      ValueType.COUNT,
      "8",
      1,
      1024,
      "",
      "To how many other buses a bus sends an event itself at most; those pass it on to the rest."
          + " More than there are others is a mesh, 1 a chain. The same on all buses."),
  /** Bytes queued for one lane. */
  FEDERATION_QUEUE_BYTES(
      "federation.queue-bytes",
      ValueType.SIZE,
      "16MiB",
      64 * Bytes.KIB,
      Bytes.TIB,
      "",
      "Bytes that may wait for one lane to another bus, sent or not, until that bus has"
          + " acknowledged them; beyond, publishers wait. There is one lane for each event loop."
          + " The same for each direction of a stream of calls, beyond which calls go elsewhere or"
          + " wait."),
  /** Bytes queued for all lanes. */
  FEDERATION_MEMORY_PERCENT(
      "federation.memory-percent",
      ValueType.COUNT,
      "25",
      1,
      100,
      "",
      "Part of `limits.memory-bytes` that may wait for all lanes together, in per cent. From half"
          + " of it on, each lane may hold only its part of that half; beyond, publishers wait."),
  /** Filters told to other buses. */
  FEDERATION_FILTERS(
      "federation.filters",
      ValueType.COUNT,
      "100000",
      1,
      10_000_000,
      "",
      "Different filters (and groups) that the clients of one bus may subscribe to in a cluster:"
          + " all buses keep those of all. One connection may bring an eighth, one address"
          + " `limits.address-memory-percent` where half is taken; the last quarter is for"
          + " connections with less than 64. The same on all buses."),
  /** Timeout of guarantees that wait for peers. */
  FEDERATION_SYNC_TIMEOUT(
      "federation.sync-timeout",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      60_000,
      "",
      "How long the `Confirm` of a subscription, `Drained` and the answer to a `Barrier` wait for"
          + " other buses, and a starting bus for what the others subscribe to."),
  /** Timeout of an unreachable peer. */
  FEDERATION_PEER_TIMEOUT(
      "federation.peer-timeout",
      ValueType.TIME,
      "10s",
      Millis.MIN,
      Millis.DAY,
      "",
      "How long events wait for a bus that cannot be reached; then they are counted as lost, and"
          + " nothing waits for it until it is back."),
  /** Interval of keepalives on lanes. */
  FEDERATION_HEARTBEAT(
      "federation.heartbeat",
      ValueType.TIME,
      "1s",
      Millis.MIN,
      60_000,
      "",
      "How long a lane is quiet before a bus shows the other that it lives. The same on all"
          + " buses."),
  /** Timeout of silence on lanes. */
  FEDERATION_KEEPALIVE_TIMEOUT(
      "federation.keepalive-timeout",
      ValueType.TIME,
      "3s",
      2 * Millis.MIN,
      600_000,
      "",
      "How long the other side of a lane may say nothing before the lane is opened anew; at least"
          + " twice `federation.heartbeat`."),

  /** Default timeout of a request. */
  SERVICES_TIMEOUT(
      "services.timeout",
      ValueType.TIME,
      "30s",
      Millis.MIN,
      600_000,
      "",
      "How long the caller of a service waits for the answer where the request does not"
          + " say so. No request waits longer than ten minutes."),
  /** Longest wait of requests for a member. */
  SERVICES_MAX_WAIT(
      "services.max-wait",
      ValueType.TIME,
      "2s",
      Millis.MIN,
      600_000,
      "",
      "How long requests may wait for a member that is free, at most three quarters of their"
          + " time. While those before it have waited so long (half of it for one of normal"
          + " priority, a tenth for one of low priority), a request is refused with `OVERLOADED`,"
          + " and with it the first of those, where it has waited the whole of it."),
  /** Retries of a call with other members. */
  SERVICES_RETRIES(
      "services.retries",
      ValueType.COUNT,
      "2",
      0,
      100,
      "",
      "How often a call that may be executed twice is given to another member after the"
          + " one that had it is lost."),
  /** Budget of repeated calls. */
  SERVICES_RETRY_PERCENT(
      "services.retry-percent",
      ValueType.COUNT,
      "10",
      0,
      100,
      "",
      "Calls of a service that may be given to another member in this way, of a hundred"
          + " of its calls; ten a second on each event loop in any case."),
  /** Requests that wait. */
  SERVICES_QUEUE_REQUESTS(
      "services.queue-requests",
      ValueType.COUNT,
      "10000",
      1,
      10_000_000,
      "",
      "Requests that may wait for one service; those of one user as many as there is room left"
          + " for others."),
  /** Bytes of requests that wait. */
  SERVICES_QUEUE_BYTES(
      "services.queue-bytes",
      ValueType.SIZE,
      "0",
      0,
      Bytes.TIB,
      "",
      "Bytes of requests that may wait for members on the whole bus; 0 is a quarter of"
          + " `limits.memory-bytes`."),
  /** Members of a request to all. */
  SERVICES_MAX_GATHER_MEMBERS(
      "services.max-gather-members",
      ValueType.COUNT,
      "10000",
      1,
      1_000_000,
      "",
      "Members that the requests of one connection to all members of a service may wait for"
          + " together."),
  /** Time that a lost member counts as present. */
  SERVICES_REJOIN(
      "services.rejoin",
      ValueType.TIME,
      "3s",
      Millis.MIN,
      600_000,
      "",
      "How long after the loss of its connection a member counts as present on"
          + " `$SYS.services.<name>`, unless it comes back."),

  /** Interval of a bus's figures. */
  SYS_INTERVAL(
      "sys.interval",
      ValueType.TIME,
      "2s",
      0,
      Millis.MAX,
      "",
      "How often the bus publishes its figures on `$SYS.bus.<name>.stats`, while something in the"
          + " cluster subscribes to that; 0 is never."),

  /** Path of the echo endpoint. */
  DIAGNOSTICS_ECHO_PATH(
      "diagnostics.echo-path",
      ValueType.URL_PATH,
      "",
      "",
      "Path of an endpoint that sends every message back, for WebSocket conformance suites; empty"
          + " is off. Leave it off in production."),
  /** Largest message of the echo endpoint. */
  DIAGNOSTICS_ECHO_MESSAGE_BYTES(
      "diagnostics.echo-message-bytes",
      ValueType.SIZE,
      "16MiB",
      1,
      Bytes.GIB,
      "",
      "Largest message of the echo endpoint; conformance suites send 16 MiB."),

  /** Existence of the administration port. */
  ADMIN_ENABLED(
      "admin.enabled",
      ValueType.SWITCH,
      "true",
      "",
      "Whether the administration port (health, metrics, API) is there at all."),
  /** Address of the administration port. */
  ADMIN_HOST(
      "admin.host",
      ValueType.HOST,
      "127.0.0.1",
      "--admin-host",
      "Address of the administration port. This machine only, because there nobody has to log in;"
          + " any other address needs a login (`admin.token-file`, or `admin.account` with"
          + " `auth.users-file` or `auth.jwt.…`) and `admin.tls-certificate`."),
  /** Port of the administration API. */
  ADMIN_PORT(
      "admin.port",
      ValueType.COUNT,
      "8081",
      0,
      65_535,
      "--admin-port",
      "TCP port of the administration API; 0 takes a free one."),
  /** Names of the administration port. */
  ADMIN_ALLOWED_HOSTS(
      "admin.allowed-hosts",
      ValueType.HOSTS,
      "",
      "",
      "Names in `Host` that the administration port answers to, besides `localhost`, `admin.host`"
          + " and (where it listens to more than loopback) every IP address; `*` for all, where a"
          + " proxy decides."),
  /** Condition of operators' login. */
  ADMIN_AUTH(
      "admin.auth",
      ValueType.ADMIN_AUTH,
      "auto",
      "",
      "Whether the administration port asks who calls: `auto` where a token is set, and where"
          + " `admin.host` is no loopback address; `required` always."),
  /** Token of administrators. */
  ADMIN_TOKEN(
      "admin.token",
      ValueType.SECRET,
      "",
      "",
      "Token with which anybody administers this bus (`Authorization: Bearer`), 16 characters at"
          + " least. Give it in a file or the environment: other users of the machine can read"
          + " flags."),
  /** Token of administrators in a file. */
  ADMIN_TOKEN_FILE(
      "admin.token-file",
      ValueType.FILE,
      "",
      "",
      "File with that token, instead of `admin.token`; white space around it does not count."),
  /** Account of operators. */
  ADMIN_ACCOUNT(
      "admin.account",
      ValueType.NAME,
      "",
      "",
      "Account of operators: users and JSON Web Tokens of it, and of no other, may do at the"
          + " administration port what their roles `viewer`, `operator` and `admin` allow. Without"
          + " it only the token of `admin.token` or `admin.token-file` opens that port. Give the"
          + " account to people who administer the bus only."),
  /** Metrics without a login. */
  ADMIN_METRICS_OPEN(
      "admin.metrics-open",
      ValueType.SWITCH,
      "false",
      "",
      "Whether `/metrics` is there without a login, as `/healthz` and `/readyz` always are."),
  /** Certificate of the administration port. */
  ADMIN_TLS_CERTIFICATE(
      "admin.tls-certificate",
      ValueType.FILE,
      "",
      "",
      "PEM file with the certificate chain of the administration port; turns TLS on together with"
          + " `admin.tls-key`."),
  /** Key of the administration port. */
  ADMIN_TLS_KEY(
      "admin.tls-key",
      ValueType.FILE,
      "",
      "",
      "PEM file with the private key of that certificate (PKCS#8, not encrypted)."),
  /** Administration without TLS beyond this machine. */
  ADMIN_PLAINTEXT(
      "admin.plaintext",
      ValueType.SWITCH,
      "false",
      "",
      "Lets the administration port be reached from other machines without TLS, where something"
          + " else encrypts: a proxy, or the network of containers on one machine."),

  /** File of the audit log. */
  AUDIT_FILE(
      "audit.file",
      ValueType.FILE,
      "",
      "",
      "File of the [audit log](#audit-log), JSON lines; without it there is none but on"
          + " `$SYS.audit.…`."),
  /** Size of a file of the audit log. */
  AUDIT_MAX_BYTES(
      "audit.max-bytes",
      ValueType.SIZE,
      "64MiB",
      64 * Bytes.KIB,
      16 * Bytes.GIB,
      "",
      "Size from which on another file is begun; the full one is `audit.file` with `.1` behind its"
          + " name, the one before `.2` and so on."),
  /** Number of files of the audit log. */
  AUDIT_FILES("audit.files", ValueType.COUNT, "10", 1, 20, "", "How many full files are kept."),

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
   * Returns what the key does and the reason of its default.
   *
   * @return a sentence or two, in Markdown
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
