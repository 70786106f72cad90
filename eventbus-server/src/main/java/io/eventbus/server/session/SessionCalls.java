package io.eventbus.server.session;

import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.RequestView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.CallScope;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallRequest;
import io.eventbus.server.call.CallerConnection;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.call.CallerPort;
import io.eventbus.server.call.GatherPort;
import io.eventbus.server.call.GatheringClient;
import io.eventbus.server.call.tunnel.TunnelEnding;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls that one session makes. Allocated with its first request. Confined to the loop.
 *
 * <p>Except for a malformed encoding, everything wrong with a request is answered with a {@code
 * Failure}, so that the caller can go on with its other calls.
 */
final class SessionCalls implements CallerPort, GatherPort {
  /** Minimum units of work that a call costs. */
  private static final int CALL_UNITS = 2;

  /**
   * Units of work that a cancellation costs the member's loop, in addition to the frame: two
   * microseconds.
   */
  private static final int CANCEL_UNITS = 16;

  private static final ByteBuffer NO_DETAILS = ByteBuffer.allocate(0);

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final Denials denials;
  private final CallerConnection calls;
  private final CallerInfo info;
  private final ServiceShare held;
  private final ServiceQueries queries;
  private FilterRules observable;
  // Allocated with the first request to all members of a service.
  private @Nullable GatheringClient gathers;
  private final Supplier<SessionTunnels> tunnels;
  // Allocated with the first stream or tunnel.
  private @Nullable SessionTunnels open;
  private FilterRules allowed;
  private @Nullable ConnectionQuota quotas;
  private boolean failed;

  /**
   * Creates the calling state of a session.
   *
   * @param denials reports what the client may not do
   */
  SessionCalls(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      CallerInfo info,
      ServiceShare held,
      Permissions permissions,
      Denials denials,
      Supplier<SessionTunnels> tunnels) {
    this.tunnels = tunnels;
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.denials = denials;
    this.allowed = permissions.of(Action.REQUEST);
    this.info = info;
    this.queries = new ServiceQueries(loop, connection, info.account(), denials, this);
    this.observable = permissions.of(Action.OBSERVE);
    this.held = held;
    this.calls = loop.calls.caller(this, info, held);
  }

  /** Sets the permissions that apply from now on; calls in flight go on. */
  void permit(Permissions permissions) {
    allowed = permissions.of(Action.REQUEST);
    observable = permissions.of(Action.OBSERVE);
  }

  /** Sets the quotas that apply from now on, charging what is used already; null for none. */
  void share(@Nullable ConnectionQuota share) {
    quotas = share;
    left();
  }

  /**
   * Starts a call, or refuses it with a {@code Failure}. Returns false if a call with its number is
   * in flight; then nothing was done.
   *
   * @throws MalformedFrameException if the bytes are not a {@code Request}
   */
  boolean request(ByteBuffer in, int from, int to, long receivedAt) {
    loop.budget().spend(CALL_UNITS);
    RequestView request = loop.request;
    try {
      request.read(in, from, to, loop.frameLimits);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig() || request.call() == 0) {
        throw e;
      }
      refuse(request.call(), FailureCode.TOO_BIG, String.valueOf(e.getMessage()));
      return true;
    }
    CalledServices.Decision service = loop.called.decide(in, request, allowed);
    loop.budget().spend(loop.called.takeWork());
    CallPriority priority = request.priority();
    CallKind kind = request.kind();
    if (kind == null || request.scope() == null || priority == null) {
      refuse(
          request.call(),
          FailureCode.UNSUPPORTED,
          "this bus does not serve calls of this kind, scope or priority (expected: kind REPLY,"
              + " STREAM or TUNNEL, scope ONE or ALL, priority NORMAL, HIGH or LOW)");
      return true;
    }
    if (request.scope() == CallScope.ALL && (kind != CallKind.REPLY || request.member() != 0)) {
      refuse(
          request.call(),
          FailureCode.UNSUPPORTED,
          "a request to all members is a stream or tunnel, or names one of them (expected: kind"
              + " REPLY and member 0, or scope ONE)");
      return true;
    }
    String problem = service.problem();
    boolean isQuery = problem != null && service.service().equals(ServiceName.BUS);
    if (problem != null && !isQuery) {
      refuse(request.call(), FailureCode.NO_MEMBER, problem);
      return true;
    }
    if (!isQuery && !service.allowed()) {
      refuseForbidden(request.call(), service.service());
      return true;
    }
    ConnectionQuota share = quotas;
    if (share == null) {
      return isQuery ? ask(request) : begin(in, request, priority, kind, receivedAt);
    }
    ConnectionQuota.RefusedCall refused = share.acquireCall(loop.budget().now());
    if (refused != null) {
      refuse(request.call(), FailureCode.OVERLOADED, refused.message(), refused.retryAfterMillis());
      return true;
    }
    try {
      return isQuery ? ask(request) : begin(in, request, priority, kind, receivedAt);
    } finally {
      // A call that was not started releases its quota.
      left();
    }
  }

  private boolean ask(RequestView request) {
    queries.ask(request, observable);
    return true;
  }

  @Override
  public void chargeWork(long nanos) {
    connection.chargeWork(nanos);
  }

  @Override
  public void left() {
    ConnectionQuota share = quotas;
    if (share != null) {
      GatheringClient all = gathers;
      SessionTunnels created = open;
      share.callsInFlight(
          calls.inFlight()
              + (all == null ? 0 : all.inFlight())
              + (created == null ? 0 : created.tunnels().opened()));
    }
  }

  private boolean begin(
      ByteBuffer in, RequestView request, CallPriority priority, CallKind kind, long receivedAt) {
    if (kind == CallKind.REPLY) {
      return begin(in, request, priority, (TunnelHalf) null, receivedAt);
    }
    SessionTunnels created = tunnels.get();
    if (open == null) {
      open = created;
      created.onOpenedOrLeft(this::left);
    }
    TunnelHalf tunnel =
        created.tunnels().request(request.call(), kind == CallKind.STREAM, request.limit());
    String full = created.tunnels().refusal();
    if (full != null) {
      refuse(request.call(), FailureCode.OVERLOADED, full);
      return true;
    }
    return tunnel != null && begin(in, request, priority, tunnel, receivedAt);
  }

  private boolean begin(
      ByteBuffer in,
      RequestView request,
      CallPriority priority,
      @Nullable TunnelHalf tunnel,
      long receivedAt) {
    int method = request.methodLength();
    int event = request.eventLength();
    Delivery body = loop.bodies.allocate(DeliveryKind.CALL, method + event, 0, 0);
    try {
      body.append(in, request.methodStart(), method);
      body.append(in, request.eventStart(), event);
      body.finish();
      CallRequest call = loop.callRequest;
      call.service = in;
      call.serviceStart = request.serviceStart();
      call.serviceLength = request.serviceLength();
      call.call = request.call();
      call.priority = priority;
      call.timeoutMillis = request.timeoutMillis();
      call.waitMillis = request.waitMillis();
      call.idempotent = request.idempotent();
      call.attempt = request.attempt();
      call.member = request.member();
      call.receivedAt = receivedAt;
      call.schema = request.schema();
      call.methodLength = method;
      call.body = body;
      call.tunnel = tunnel;
      return request.scope() == CallScope.ALL ? gather(call) : isNew(call) && calls.begin(call);
    } finally {
      loop.callRequest.body = null;
      loop.callRequest.tunnel = null;
      body.release();
    }
  }

  private boolean isNew(CallRequest call) {
    GatheringClient all = gathers;
    return all == null || !all.has(call.call);
  }

  private boolean gather(CallRequest call) {
    if (calls.has(call.call)) {
      return false;
    }
    GatheringClient all = gathers;
    if (all == null) {
      all = loop.calls.gatherer(this, info, held);
      gathers = all;
    }
    return all.begin(call) != GatheringClient.IN_FLIGHT;
  }

  @Override
  public boolean refuses(long call, int members) {
    ConnectionQuota share = quotas;
    ConnectionQuota.RefusedCall refused =
        share == null ? null : share.acquireFurtherCalls(members - 1);
    if (refused == null) {
      return false;
    }
    refuse(call, FailureCode.OVERLOADED, refused.message(), refused.retryAfterMillis());
    return true;
  }

  private void refuseForbidden(long call, String service) {
    denials.denied(Action.REQUEST, service, () -> allowed.explain(service));
    refuse(
        call,
        FailureCode.FORBIDDEN,
        "calls of '"
            + service
            + "' are not allowed to this client ("
            + allowed.origin()
            + "; expected: a service that is)");
  }

  /** Refuses a call that was not started. */
  private void refuse(long call, FailureCode code, String message) {
    refuse(call, code, message, 0);
  }

  private void refuse(long call, FailureCode code, String message, long retryAfterMillis) {
    loop.stats.calls.requests.add(1);
    loop.stats.calls.failures(code).add(1);
    failure(call, 0, code, Execution.NO, retryAfterMillis, false, message);
  }

  /** Cancels a call. */
  void cancel(Cancel cancel) {
    loop.budget().spend(CANCEL_UNITS);
    calls.cancel(cancel.getCall(), cancel.getReason());
    if (gathers != null) {
      gathers.cancel(cancel.getCall(), cancel.getReason());
    }
  }

  /** Ends all calls with the connection. */
  void close() {
    queries.close();
    calls.close();
    if (gathers != null) {
      gathers.close();
    }
  }

  @Override
  public void reply(long call, long member, int queuedMicros, int handledMicros, Delivery reply) {
    reply(CallKind.REPLY, call, member, queuedMicros, handledMicros, false, 0, reply);
  }

  @Override
  public void reply(
      long call, long member, int queuedMicros, int handledMicros, boolean more, Delivery reply) {
    reply(CallKind.REPLY, call, member, queuedMicros, handledMicros, more, 0, reply);
  }

  @Override
  public void accepted(
      long call, long member, int queuedMicros, int handledMicros, long limit, Delivery reply) {
    reply(CallKind.TUNNEL, call, member, queuedMicros, handledMicros, false, limit, reply);
  }

  private void reply(
      CallKind kind,
      long call,
      long member,
      int queuedMicros,
      int handledMicros,
      boolean more,
      long limit,
      Delivery reply) {
    int event = reply.frameBytes();
    int tail = event + CallFrames.limitSize(limit);
    int size = CallFrames.replySize(call, member, queuedMicros, handledMicros, tail);
    if (!out.hasRoomForCall(size)) {
      if (kind != CallKind.REPLY) {
        // Behind no data: the caller does not know yet that the tunnel is open.
        endTunnel(call);
      }
      failure(
          call,
          member,
          FailureCode.OVERLOADED,
          Execution.YES,
          0,
          more,
          "there is no room for the reply behind unread frames of this client; read faster");
      return;
    }
    try {
      Delivery frame = loop.router.deliveries().allocate(DeliveryKind.CALL, size, 0, 0);
      ByteBuffer head = loop.scratch.clear();
      CallFrames.writeReplyHead(head, call, member, queuedMicros, handledMicros, tail);
      frame.append(head.flip());
      frame.append(reply, 0, event);
      head = loop.scratch.clear();
      CallFrames.writeReplyEnd(head, more, limit);
      frame.append(head.flip());
      frame.finish();
      out.send(frame);
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  @Override
  public void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure) {
    refused(call);
    Failure record = said(call, member, failure);
    // An earlier member may have executed it.
    record.setExecuted(executed);
    record.setMore(false);
    send(record, DeliveryKind.CALL);
  }

  @Override
  public void failure(long call, long member, boolean more, Delivery failure) {
    Failure record = said(call, member, failure);
    record.setMore(more);
    send(record, DeliveryKind.CALL);
  }

  private static Failure said(long call, long member, Delivery failure) {
    ByteBuffer body = failure.frame();
    Failure record = ServiceFrames.failure(body, body.position(), body.limit());
    record.setCall(call);
    record.setMember(member);
    return record;
  }

  @Override
  public void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message) {
    failure(call, member, code, executed, retryAfterMillis, false, message);
  }

  @Override
  public void failure(
      long call,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      boolean more,
      String message) {
    refused(call);
    ByteBuffer details = NO_DETAILS.duplicate();
    send(
        new Failure(call, code, message, executed, retryAfterMillis, member, "", details, more),
        DeliveryKind.CALL_ANSWER);
  }

  /** Drops the tunnel of a refused call, if it was to be one. */
  private void refused(long call) {
    SessionTunnels created = open;
    if (created != null) {
      created.tunnels().refused(call);
    }
  }

  private void endTunnel(long call) {
    SessionTunnels created = open;
    if (created != null) {
      created
          .tunnels()
          .reset(
              call,
              TunnelEnding.of(FailureCode.OVERLOADED, "the caller does not read its answers"));
    }
  }

  private void send(Failure failure, DeliveryKind kind) {
    byte[] frame = ControlFrames.encode(TypeCode.FAILURE, failure);
    DeliveryKind counted = out.hasRoomForCall(frame.length) ? kind : DeliveryKind.CALL_ANSWER;
    try {
      out.send(Delivery.of(loop.allocator, loop.bus.memory(), counted, frame, 0));
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  /**
   * Closes the connection if an answer cannot be sent, because the client would wait for it without
   * end.
   */
  private void end(OutOfMemoryError e) {
    RefusedMemory.rethrowOthers(e);
    if (!failed) {
      failed = true;
      connection.inTurn(
          () -> connection.close(CloseReason.OVERLOADED, "the bus has no memory for this answer"));
    }
  }
}
