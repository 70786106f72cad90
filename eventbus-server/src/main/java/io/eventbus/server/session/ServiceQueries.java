package io.eventbus.server.session;

import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.EncodedHeaders;
import io.eventbus.protocol.Frames;
import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.BusService;
import io.eventbus.server.call.GatherPort;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Requests of one session to the bus itself, for the members of services that the client may
 * observe. Confined to the loop.
 */
final class ServiceQueries {
  /** Requests of one session that may wait for an answer. */
  static final int MAX_OPEN = 16;

  private static final TopicFilter ALL_MEMBERS = TopicFilter.parse(ServiceName.presenceTopic(">"));

  private final LoopContext loop;
  private final ConnectionControl connection;
  private final String account;
  private final Denials denials;
  private final GatherPort end;
  private int open;
  private boolean closed;

  /** Creates an empty query state. */
  ServiceQueries(
      LoopContext loop,
      ConnectionControl connection,
      String account,
      Denials denials,
      GatherPort end) {
    this.denials = denials;
    this.account = account;
    this.loop = loop;
    this.connection = connection;
    this.end = end;
  }

  /**
   * Answers a request. The bus counts as its single member, whatever the scope.
   *
   * @param allowed rules for what the client may observe
   */
  void ask(RequestView request, FilterRules allowed) {
    long call = request.call();
    String method = request.method();
    String argument = new String(request.event().payload(), StandardCharsets.UTF_8);
    loop.stats.calls.requests.add(1);
    if (!mayAsk(method, argument, allowed)) {
      TopicFilter asked =
          ServiceName.problem(argument) == null
              ? TopicFilter.parse(ServiceName.presenceTopic(argument))
              : ALL_MEMBERS;
      denials.denied(Action.OBSERVE, asked.toString(), () -> allowed.explain(asked));
      fail(
          call,
          FailureCode.FORBIDDEN,
          "to ask for the members of services is not allowed to this client ("
              + allowed.origin()
              + "; expected: one that may observe "
              + ServiceName.presenceTopic(argument.isEmpty() ? ">" : "…")
              + ")");
    } else if (open >= MAX_OPEN) {
      fail(
          call,
          FailureCode.OVERLOADED,
          open + " queries to the bus are open (expected: at most " + MAX_OPEN + ")");
    } else {
      open++;
      loop.calls.busService().ask(account, method, argument, new Waiting(call, System.nanoTime()));
    }
  }

  /**
   * Returns whether the client may ask: a client that may observe a single service may ask for that
   * service only.
   */
  private static boolean mayAsk(String method, String argument, FilterRules allowed) {
    return allowed.allows(ALL_MEMBERS)
        || (method.equals(BusService.ONE)
            && ServiceName.problem(argument) == null
            && allowed.allows(ServiceName.presenceTopic(argument)));
  }

  private void fail(long call, FailureCode code, String message) {
    loop.stats.calls.failures(code).add(1);
    end.failure(call, 0, code, Execution.NO, 0, false, message);
  }

  private void reply(long call, byte[] json, int micros) {
    long now = loop.bus.nowMicros();
    int maxBytes = loop.bus.limits().payloadBytes();
    if (json.length > maxBytes) {
      fail(
          call,
          FailureCode.TOO_BIG,
          "the answer takes " + json.length + " bytes (expected: at most " + maxBytes + ")");
      return;
    }
    int event = Frames.eventSize(now, -1, EncodedHeaders.NONE.size(), json.length);
    // An empty schema, and the event.
    ByteBuffer tail = ByteBuffer.allocate(1 + event).put((byte) 0);
    Frames.writeEvent(tail, now, null, EncodedHeaders.NONE, json);
    Delivery body;
    try {
      body = Delivery.of(loop.allocator, loop.bus.memory(), DeliveryKind.CALL, tail.array(), 0);
    } catch (OutOfMemoryError e) {
      RefusedMemory.rethrowOthers(e);
      fail(call, FailureCode.OVERLOADED, "the bus has no memory for this answer");
      return;
    }
    try {
      loop.stats.calls.replies.add(1);
      end.reply(call, 0, 0, micros, false, body);
    } finally {
      body.release();
    }
  }

  /** Ends all queries with the connection. */
  void close() {
    closed = true;
  }

  private final class Waiting implements BusService.Answer {
    private final long call;
    private final long askedNanos;

    Waiting(long call, long askedNanos) {
      this.call = call;
      this.askedNanos = askedNanos;
    }

    @Override
    public void reply(byte[] json) {
      int micros = (int) Math.min(Integer.MAX_VALUE, (System.nanoTime() - askedNanos) / 1_000);
      answered(() -> ServiceQueries.this.reply(call, json, micros));
    }

    @Override
    public void fail(FailureCode code, String message) {
      answered(() -> ServiceQueries.this.fail(call, code, message));
    }

    private void answered(Runnable told) {
      connection.execute(
          () -> {
            open--;
            if (!closed) {
              told.run();
            }
          });
    }
  }
}
