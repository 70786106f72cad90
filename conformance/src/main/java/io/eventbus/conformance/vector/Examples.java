package io.eventbus.conformance.vector;

/** Records of the examples in the protocol's page, one of each type. */
final class Examples {
  private static final String EVENTS =
      """
      [{"publishedAt": "1763712000000000", "key": "LH400", "headers": {"type": "json"},
        "payload": "eyJydW53YXkiOiIwN0MifQ=="},
       {"publishedAt": "1763712000000250", "key": null, "headers": {}, "payload": ""}]
      """;

  /** {@code Deliver} frame of an event at position 43. */
  private static final String FEED_FRAMES =
      "CGQUb3JkZXJzLm5ldwYiAIiO+LPGhaIGVgEY" + "gID4s8aFogYAAAI3AADCisGsv8nk5MwBCg==";

  static final String ALL =
      """
      {
        "Hello": {"client": "flight-board", "agent": "example/1.0", "token": null, "resume": null,
          "attributes": {}, "change": null, "user": null, "previous": null},
        "Publish": {"topic": "flights.EDDF.landed", "sequence": "1", "schema": "0", "confirm": true,
          "events": %1$s, "expect": "0", "delayMillis": "0", "ttlMillis": "0",
          "producerName": null, "number": "0"},
        "Subscribe": {"id": "1", "filter": "flights.*.landed", "group": "boards",
          "overflow": "DROP_OLDEST"},
        "ChangeBus": {"urls": ["ws://bus-2.example:8080/bus"], "reason": "DRAIN",
          "deadlineMillis": "30000", "token": "move-7f3a", "hops": 2},
        "Deliver": {"topic": "flights.EDDF.landed", "producer": "7378243254498108065",
          "sequence": "1", "schema": "0", "receivedAt": "1763712000000900", "offset": "-1",
          "events": %1$s, "groups": ["1"], "originProducer": "0", "originSequence": "0"},
        "Ack": {"topic": "flights.EDDF.landed", "producer": "7378243254498108065", "sequence": "2"},
        "Unsubscribe": {"id": "1"},
        "Welcome": {"bus": "bus-1", "session": "bus-1-42", "producer": "7378243254498108065",
          "resume": "q3fJ0yK8Zk1mWc7Hq2vXo5Tt9bLrNd4GsAeUiPwCxYE",
          "limits": {"payloadBytes": 1048576, "messageBytes": 4194304, "headers": 64,
            "headerBytes": 16384, "subscriptions": 10000, "queueBytes": "8388608"},
          "others": [], "expiresAt": "0", "calls": 4096, "services": 1000, "tunnels": 1024,
          "window": 4194304, "durable": true},
        "Problem": {"code": "ILLEGAL_TOPIC",
          "message": "topic 'a..b' has an empty token, number 2 (expected: none)",
          "retryable": false, "about": "1", "typeCode": 1, "topic": "a..b"},
        "Confirm": {"typeCode": 1, "about": "2", "topic": "flights.EDDF.landed",
          "receivers": "3", "position": "0", "repeated": false, "creation": "0"},
        "Gap": {"topic": "flights.EDDF.landed", "producer": "7378243254498108065", "from": "3",
          "to": "7", "reason": "QUEUE_FULL"},
        "Barrier": {"id": "77"},
        "Drained": {"id": "1"},
        "ChangeBusFailed": {"token": "move-7f3a", "message": "no connection"},
        "Data": {"call": "5", "offset": "69", "more": false, "last": true, "payload": "aGVsbG8="},
        "Credit": {"call": "0", "limit": "1048576", "received": "70000", "consumer": "0"},
        "Register": {"id": "3", "service": "orders", "concurrency": 16, "identify": true,
          "version": "2.1", "metadata": {"zone": "eu"}, "overflow": "DROP_OLDEST"},
        "Unregister": {"id": "3"},
        "Request": {"call": "1", "service": "orders", "method": "total", "kind": "REPLY",
          "scope": "ONE", "priority": "NORMAL", "timeoutMillis": 2000, "waitMillis": 0,
          "idempotent": true, "attempt": 0, "member": "0", "schema": "0",
          "event": {"publishedAt": "1763712000000000", "key": null, "headers": {},
            "payload": "eyJvcmRlciI6N30="}, "limit": "0"},
        "Invoke": {"call": "-1", "service": "3", "method": "total", "kind": "REPLY",
          "timeoutMillis": 1999, "caller": "7378243254498108065", "request": "1", "attempt": 0,
          "identity": "alice", "receivedAt": "1763712000000400", "schema": "0",
          "event": {"publishedAt": "1763712000000000", "key": null, "headers": {},
            "payload": "eyJvcmRlciI6N30="}, "limit": "0"},
        "Reply": {"call": "1", "member": "5", "queuedMicros": 120, "handledMicros": 850,
          "schema": "0",
          "event": {"publishedAt": "1763712000001000", "key": null, "headers": {},
            "payload": "eyJ0b3RhbCI6NDJ9"}, "limit": "0"},
        "Failure": {"call": "1", "code": "FAILED", "message": "no order 7", "executed": "YES",
          "retryAfterMillis": "0", "member": "5", "type": "NoSuchOrder", "details": "Nw=="},
        "Cancel": {"call": "1", "reason": "no longer needed"},
        "Capacity": {"id": "3", "concurrency": 0},
        "Echo": {"id": "78"},
        "Authenticate": {"token": "s3cret", "user": null},
        "Consume": {"id": "4", "filter": "orders.>", "journal": "shop", "name": "billing",
          "mode": "SHARED", "start": "FIRST", "from": "0", "limit": "1048576",
          "creation": "79", "otherStart": "FIRST", "otherFrom": "0", "maxEvents": 50,
          "ackTimeoutMillis": 60000, "maxAttempts": 5},
        "Feed": {"id": "4", "from": "42", "to": "45", "head": "45",
          "frames": "%2$s", "attempt": 1},
        "Settle": {"id": "4", "upTo": "45", "confirm": true, "creation": "79", "from": "43",
          "outcome": "RETRY", "attempt": 1, "delayMillis": 5000, "reason": "busy"},
        "Ask": {"id": "79", "journal": "shop", "topic": "orders.new", "name": "billing",
          "time": "1763712000000000"},
        "Told": {"id": "79", "journal": "shop", "first": "1", "last": "45", "topicLast": "43",
          "atTime": "43", "settled": "41"},
        "Truncated": {"id": "4", "from": "1", "to": "41", "reason": "RETENTION"}
      }
      """
          .formatted(EVENTS, FEED_FRAMES);

  private Examples() {}
}
