package io.eventbus.server.samples;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallRequest;
import io.eventbus.server.call.CallerEnd;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.call.CallingClient;
import io.eventbus.server.call.Invocation;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.MemberEnd;
import io.eventbus.server.call.ServiceMember;
import io.eventbus.server.call.ServingClient;
import io.eventbus.server.routing.Delivery;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Calls that note what they are told and do nothing. */
public final class FakeCalls implements LoopCalls {
  /** What was begun, with a copy of the body. */
  @SuppressWarnings("ArrayRecordComponent")
  public record Begun(
      long call,
      String service,
      CallPriority priority,
      int timeoutMillis,
      int waitMillis,
      boolean idempotent,
      int attempt,
      long member,
      long receivedAt,
      long schema,
      String method,
      byte[] event) {}

  /** What a member has answered, with a copy of it; a reply has no code. */
  @SuppressWarnings("ArrayRecordComponent")
  public record Answered(long call, String code, Execution executed, byte[] content) {}

  /** Those that call. */
  public final List<Caller> callers = new ArrayList<>();

  /** Those that serve. */
  public final List<Server> servers = new ArrayList<>();

  @Override
  public CallingClient caller(CallerEnd end, CallerInfo info) {
    Caller made = new Caller(end, info);
    callers.add(made);
    return made;
  }

  @Override
  public ServingClient server(MemberEnd end, long number) {
    Server made = new Server(end, number);
    servers.add(made);
    return made;
  }

  @Override
  public void flush() {}

  private static byte[] copy(Delivery delivery) {
    byte[] bytes = new byte[delivery.frameBytes()];
    delivery.frame().get(bytes);
    return bytes;
  }

  /** A connection that calls. */
  public static final class Caller implements CallingClient {
    public final CallerEnd end;
    public final CallerInfo info;
    public final List<Begun> begun = new ArrayList<>();
    public final List<String> cancelled = new ArrayList<>();
    public boolean closed;
    private final Set<Long> numbers = new HashSet<>();

    private Caller(CallerEnd end, CallerInfo info) {
      this.end = end;
      this.info = info;
    }

    @Override
    public boolean begin(CallRequest request) {
      if (!numbers.add(request.call)) {
        return false;
      }
      byte[] name = new byte[request.serviceLength];
      request.service.get(request.serviceStart, name);
      byte[] body = copy(Objects.requireNonNull(request.body));
      int method = request.methodLength;
      begun.add(
          new Begun(
              request.call,
              new String(name, StandardCharsets.UTF_8),
              request.priority,
              request.timeoutMillis,
              request.waitMillis,
              request.idempotent,
              request.attempt,
              request.member,
              request.receivedAt,
              request.schema,
              new String(body, 0, method, StandardCharsets.UTF_8),
              Arrays.copyOfRange(body, method, body.length)));
      return true;
    }

    @Override
    public void cancel(long call, String reason) {
      cancelled.add(call + " " + reason);
    }

    @Override
    public int inFlight() {
      return numbers.size();
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** A connection that serves. */
  public static final class Server implements ServingClient {
    public final MemberEnd end;
    public final long number;
    public final Map<String, Member> members = new LinkedHashMap<>();
    public final List<Answered> answers = new ArrayList<>();

    /** The calls that it knows. */
    public final Set<Long> known = new HashSet<>();

    /** How many calls were written, as the connection said at its end; -1 before. */
    public long written = -1;

    private Server(MemberEnd end, long number) {
      this.end = end;
      this.number = number;
    }

    @Override
    public ServiceMember register(long registration, String service, int concurrency) {
      Member member = new Member(registration, concurrency);
      members.put(service, member);
      return member;
    }

    @Override
    public boolean reply(long call, int handledMicros, Delivery reply) {
      answers.add(new Answered(call, "", Execution.YES, copy(reply)));
      return known.remove(call);
    }

    @Override
    public boolean failure(
        long call, FailureCode code, Execution executed, long retryAfterMillis, Delivery failure) {
      answers.add(new Answered(call, code.name(), executed, copy(failure)));
      return known.remove(call);
    }

    @Override
    public void close(long invocationsWritten) {
      written = invocationsWritten;
    }
  }

  /** A membership. */
  public static final class Member implements ServiceMember {
    public final long registration;
    public int concurrency;
    public boolean left;

    private Member(long registration, int concurrency) {
      this.registration = registration;
      this.concurrency = concurrency;
    }

    @Override
    public void capacity(int calls) {
      concurrency = calls;
    }

    @Override
    public void unregister() {
      left = true;
    }

    @Override
    public int unanswered() {
      return 0;
    }
  }

  /** A call for a member. */
  public record Call(
      long call,
      long registration,
      int timeoutMillis,
      CallerInfo caller,
      long request,
      int attempt,
      long receivedAt,
      long schema,
      int methodLength,
      Delivery body)
      implements Invocation {}
}
