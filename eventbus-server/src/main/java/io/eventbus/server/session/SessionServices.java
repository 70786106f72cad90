package io.eventbus.server.session;

import io.eventbus.base.RefusedMemory;
import io.eventbus.protocol.CallFrames;
import io.eventbus.protocol.CloseReason;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.protocol.ReplyView;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.protocol.ServiceName;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.Capacity;
import io.eventbus.schema.Confirm;
import io.eventbus.schema.Drained;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Register;
import io.eventbus.server.call.CallHeap;
import io.eventbus.server.call.MemberConnection;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.MemberPort;
import io.eventbus.server.call.ServiceMember;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.memory.NumberMap;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.FilterRules;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Services of which one session is a member, and its calls. Allocated with the first {@code
 * Register} or answer. Confined to the loop except for {@link #registration}.
 */
public final class SessionServices implements MemberPort {
  /** Answers to unknown calls after which the connection is closed. */
  private static final int MAX_UNKNOWN = 1000;

  private static final long UNKNOWN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Minimum units of work of a call or its answer. */
  private static final int CALL_UNITS = 2;

  private static final byte[] NO_IDENTITY = {};

  /** Registration of a client in a service, as the client described it. Immutable. */
  public record Registration(
      long id, String service, boolean identify, String version, Map<String, String> metadata) {}

  private record Served(
      Registration registration,
      ServiceMember member,
      ServiceBroadcasts.Joined broadcasts,
      long heldBytes) {}

  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final ServiceShare registered;
  private final Refusal refusal;
  private final Denials denials;
  private final LongPredicate isSubscription;
  private final InterestShare interest;
  private final String account;
  private final ServiceBroadcasts broadcasts;
  private final SessionPresence presence;
  private final SessionMove move;
  private final MemberConnection serving;
  private final NumberMap<Served> byId = new NumberMap<>();
  private final Map<String, Registration> byName = new ConcurrentHashMap<>(4);
  private final Supplier<SessionTunnels> tunnels;
  // Set with the first stream or tunnel that the client accepted.
  private @Nullable SessionTunnels accepting;
  private FilterRules allowed;
  private @Nullable Registration pending;
  private boolean failed;
  private boolean closed;
  private int unknown;
  private long unknownSince;

  /**
   * Creates the serving state of a session.
   *
   * @param denials reports what the client may not do
   * @param subscriptions those of the client, whose ids differ from those of services
   */
  SessionServices(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      ServiceShare held,
      ServiceShare registered,
      Refusal refusal,
      Principal principal,
      long number,
      Denials denials,
      SessionSubscriptions subscriptions,
      SessionPresence presence,
      SessionMove move,
      Supplier<SessionTunnels> tunnels) {
    this.account = principal.account();
    this.registered = registered;
    this.presence = presence;
    this.tunnels = tunnels;
    this.loop = loop;
    this.move = move;
    this.out = out;
    this.connection = connection;
    this.refusal = refusal;
    this.denials = denials;
    this.isSubscription = subscriptions::has;
    this.interest = subscriptions.interest();
    this.broadcasts = new ServiceBroadcasts(loop, out, connection, subscriptions);
    this.allowed = principal.permissions().of(Action.SERVE);
    this.serving = loop.calls.server(this, account, number, held);
  }

  /** Sets the permissions that apply from now on, and leaves services that they do not allow. */
  void permit(Permissions permissions) {
    allowed = permissions.of(Action.SERVE);
    for (Served served : List.copyOf(byId.values())) {
      Registration registration = served.registration();
      String service = registration.service();
      if (!allowed.allows(service)) {
        denials.denied(Action.SERVE, service, () -> allowed.explain(service));
        refuse(ErrorCode.FORBIDDEN, forbidden(service), registration.id(), TypeCode.REGISTER);
        leave(served);
      }
    }
  }

  /** Returns whether an id is that of a registration. */
  boolean has(long id) {
    return byId.containsKey(id);
  }

  /** Makes the client a member of a service, or refuses it. */
  void register(Register request) {
    int limit = loop.bus.services().perConnection();
    long id = request.getId();
    String service = request.getService();
    String illegal = ServiceName.problem(service);
    if (illegal != null) {
      refuse(ErrorCode.ILLEGAL_TOPIC, illegal, id, TypeCode.REGISTER);
    } else if (!allowed.allows(service)) {
      denials.denied(Action.SERVE, service, () -> allowed.explain(service));
      refuse(ErrorCode.FORBIDDEN, forbidden(service), id, TypeCode.REGISTER);
    } else if (byId.containsKey(id) || isSubscription.test(id)) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "the number " + id + " is in use already (expected: a new one)",
          id,
          TypeCode.REGISTER);
    } else if (byName.containsKey(service)) {
      refuse(
          ErrorCode.DUPLICATE_SUBSCRIPTION,
          "the connection serves '" + service + "' already (expected: once; see Capacity)",
          id,
          TypeCode.REGISTER);
    } else if (byId.size() >= limit) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          "the connection serves " + byId.size() + " services (expected: at most " + limit + ")",
          id,
          TypeCode.REGISTER);
    } else {
      String tooMany = loop.bus.cluster().refuseService(account, service, interest);
      if (tooMany != null) {
        refuse(ErrorCode.LIMIT_EXCEEDED, tooMany, id, TypeCode.REGISTER);
      } else {
        join(request);
      }
    }
  }

  private void join(Register request) {
    long id = request.getId();
    String forbidden = broadcasts.forbidden(request.getService(), request.getOverflow());
    if (forbidden != null) {
      refuse(ErrorCode.FORBIDDEN, forbidden, id, TypeCode.REGISTER);
      return;
    }
    long bytes =
        CallHeap.ofRegistration(
            request.getService(), request.getVersion(), request.getMetadata(), loop.calls.loops());
    String full = registered.acquire(bytes, 0);
    if (full != null) {
      refuse(ErrorCode.LIMIT_EXCEEDED, full, id, TypeCode.REGISTER);
      return;
    }
    ServiceBroadcasts.Joined joined =
        broadcasts.join(id, request.getService(), request.getOverflow());
    String refused = joined.refused();
    if (refused != null) {
      registered.release(bytes, 0);
      refuse(ErrorCode.LIMIT_EXCEEDED, refused, id, TypeCode.REGISTER);
    } else {
      add(request, joined, bytes);
    }
  }

  private void add(Register request, ServiceBroadcasts.Joined joined, long bytes) {
    Registration registration =
        new Registration(
            request.getId(),
            request.getService(),
            request.getIdentify(),
            request.getVersion(),
            Map.copyOf(request.getMetadata()));
    byName.put(registration.service(), registration);
    // The first calls may arrive before the member is known.
    pending = registration;
    ServiceMember member =
        serving.register(registration.id(), registration.service(), request.getConcurrency());
    pending = null;
    if (member == null) {
      throw new IllegalStateException(
          "the connection serves '" + registration.service() + "' and does not know it");
    }
    Served served = new Served(registration, member, joined, bytes);
    byId.put(registration.id(), served);
    interest.acquire();
    presence.joined(registration, request.getConcurrency());
    joined.begin(known -> registered(served, known));
  }

  /** Called when peers know the service, or on timeout. */
  private void registered(Served served, boolean known) {
    long id = served.registration().id();
    Served now = byId.get(id);
    if (closed || now == null || now.member() != served.member()) {
      // The client has left the service meanwhile, and was told so.
      return;
    }
    if (known || !move.isMovingHere()) {
      confirm(TypeCode.REGISTER, id);
      return;
    }
    refuse(
        ErrorCode.OVERLOADED,
        "another bus did not confirm the service in time; stay at your bus, or register" + " again",
        id,
        TypeCode.REGISTER);
    leave(served);
  }

  /** Removes the client from a service. */
  void unregister(long id) {
    Served served = byId.get(id);
    if (served == null) {
      refuseUnknown(id, TypeCode.UNREGISTER);
      return;
    }
    confirm(TypeCode.UNREGISTER, id);
    leave(served);
  }

  private void leave(Served served) {
    Registration registration = served.registration();
    served.member().unregister();
    served.broadcasts().end();
    presence.left(registration);
    byId.remove(registration.id());
    interest.release();
    byName.remove(registration.service());
    registered.release(served.heldBytes(), 0);
    send(
        ControlFrames.encode(TypeCode.DRAINED, new Drained(registration.id())),
        DeliveryKind.CALL_ANSWER);
  }

  /**
   * Removes the client from a service as if it had unregistered; any thread. Returns false if the
   * client does not serve it.
   */
  public boolean drain(String service) {
    Registration registration = byName.get(service);
    if (registration == null) {
      return false;
    }
    connection.execute(
        () -> {
          Served served = byId.get(registration.id());
          if (served != null && served.registration().equals(registration)) {
            leave(served);
          }
        });
    return true;
  }

  /** Changes the maximum number of concurrent calls of the client. */
  void capacity(Capacity request) {
    Served served = byId.get(request.getId());
    if (served == null) {
      refuseUnknown(request.getId(), TypeCode.CAPACITY);
      return;
    }
    served.member().capacity(request.getConcurrency());
  }

  private void refuseUnknown(long id, TypeCode type) {
    refuse(
        ErrorCode.UNKNOWN_SUBSCRIPTION,
        "the connection serves nothing with the number " + id + " (expected: from Register)",
        id,
        type);
  }

  /**
   * Handles a reply to a call. Returns false if the client has answered too many unknown calls.
   *
   * @throws MalformedFrameException if the bytes are not a {@code Reply}
   */
  boolean reply(ByteBuffer in, int from, int to, long nowNanos) {
    loop.budget().spend(CALL_UNITS);
    ReplyView reply = loop.reply;
    try {
      reply.read(in, from, to, loop.frameLimits);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig()) {
        throw e;
      }
      return tooBig(e, reply.call(), TypeCode.REPLY, Execution.YES, nowNanos);
    }
    Delivery tail = loop.bodies.allocate(DeliveryKind.CALL, reply.tailLength(), 0, 0);
    try {
      tail.append(in, reply.tailStart(), reply.tailLength());
      tail.finish();
      return serving.reply(reply.call(), reply.handledMicros(), reply.limit(), tail)
          || unknown(nowNanos);
    } finally {
      tail.release();
    }
  }

  /**
   * Handles a failure of a call.
   *
   * @throws MalformedFrameException if the bytes are not a {@code Failure}
   */
  boolean failure(ByteBuffer in, int from, int to, long nowNanos) {
    Failure failure;
    try {
      failure = ServiceFrames.failure(in, from, to);
    } catch (MalformedFrameException e) {
      if (!e.isTooBig()) {
        throw e;
      }
      long call = ServiceFrames.firstNumber(in, from, to);
      return tooBig(e, call, TypeCode.FAILURE, Execution.UNKNOWN, nowNanos);
    }
    Delivery body = loop.bodies.allocate(DeliveryKind.CALL, to - from, 0, 0);
    try {
      body.append(in, from, to - from);
      body.finish();
      return fail(failure, body, nowNanos);
    } finally {
      body.release();
    }
  }

  private boolean fail(Failure failure, Delivery body, long nowNanos) {
    return serving.failure(
            failure.getCall(),
            failure.getCode(),
            failure.getExecuted(),
            Math.max(0, failure.getRetryAfterMillis()),
            body)
        || unknown(nowNanos);
  }

  /** Fails a call whose answer is too big, so that its caller does not wait for it. */
  private boolean tooBig(
      MalformedFrameException e, long call, TypeCode type, Execution executed, long nowNanos) {
    String message = String.valueOf(e.getMessage());
    refuse(ErrorCode.TOO_BIG, message, call, type);
    Failure failure =
        new Failure(
            call,
            FailureCode.TOO_BIG,
            message,
            executed,
            0L,
            0L,
            "",
            ByteBuffer.allocate(0),
            false);
    byte[] bytesOfBody = ControlFrames.encodeBody(failure);
    Delivery body =
        Delivery.of(loop.allocator, loop.bus.memory(), DeliveryKind.CALL, bytesOfBody, 0);
    try {
      return fail(failure, body, nowNanos);
    } finally {
      body.release();
    }
  }

  /**
   * Counts an answer to an unknown call, which may have ended meanwhile; returns false if there are
   * too many.
   */
  private boolean unknown(long nowNanos) {
    if (unknown == 0 || nowNanos - unknownSince > UNKNOWN_NANOS) {
      unknown = 0;
      unknownSince = nowNanos;
    }
    return ++unknown < MAX_UNKNOWN;
  }

  @Override
  public void invoke(MemberInvocation call) {
    if (failed || closed) {
      return;
    }
    Delivery body = call.body();
    int method = call.methodLength();
    int event = body.frameBytes() - method;
    TunnelHalf tunnel = call.tunnel();
    CallKind kind = tunnel == null ? CallKind.REPLY : tunnel.kind();
    long limit = tunnel == null ? 0 : tunnel.initialLimit();
    byte[] identity = identifies(call.registration()) ? call.caller().identity() : NO_IDENTITY;
    int size =
        CallFrames.invokeBodySize(
            call.call(),
            call.registration(),
            method,
            call.timeoutMillis(),
            call.caller().producer(),
            call.request(),
            call.attempt(),
            identity,
            call.receivedAt(),
            call.schema(),
            event + CallFrames.limitSize(limit));
    try {
      Delivery frame =
          loop.router.deliveries().allocate(DeliveryKind.INVOKE, CallFrames.invokeSize(size), 0, 0);
      ByteBuffer head = loop.scratch.clear();
      CallFrames.writeInvokeStart(head, size, call.call(), call.registration(), method);
      frame.append(head.flip());
      frame.append(body, 0, method);
      head = loop.scratch.clear();
      CallFrames.writeInvokeRest(
          head,
          kind,
          call.timeoutMillis(),
          call.caller().producer(),
          call.request(),
          call.attempt(),
          identity,
          call.receivedAt(),
          call.schema());
      frame.append(head.flip());
      frame.append(body, method, event);
      head = loop.scratch.clear();
      CallFrames.writeLimit(head, limit);
      frame.append(head.flip());
      frame.finish();
      out.send(frame);
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  private boolean identifies(long id) {
    Served served = byId.get(id);
    if (served != null) {
      return served.registration().identify();
    }
    Registration first = pending;
    return first != null && first.identify();
  }

  @Override
  public void cancel(long call, String reason) {
    send(ControlFrames.encode(TypeCode.CANCEL, new Cancel(call, reason)), DeliveryKind.CALL);
  }

  @Override
  public void chargeWork(long nanos) {
    connection.chargeWork(nanos);
  }

  @Override
  public void closeUnresponsive(String message) {
    if (!failed && !closed) {
      failed = true;
      connection.inTurn(() -> connection.close(CloseReason.OVERLOADED, message));
    }
  }

  @Override
  public TunnelHalf accept(long call, long limit, TunnelHalf caller) {
    SessionTunnels created = tunnels.get();
    accepting = created;
    return created.tunnels().accept(call, limit, caller);
  }

  @Override
  public void cancelTunnel(long call, String reason) {
    SessionTunnels created = accepting;
    if (created != null) {
      boolean unused = created.cancel(call, reason);
    }
  }

  private void confirm(TypeCode type, long id) {
    send(
        ControlFrames.encode(
            TypeCode.CONFIRM, new Confirm(type.code(), id, "", -1L, 0L, false, 0L)),
        DeliveryKind.CALL_ANSWER);
  }

  /** Sends a frame in its order among the calls. */
  private void send(byte[] frame, DeliveryKind kind) {
    if (failed || closed) {
      return;
    }
    try {
      out.send(Delivery.of(loop.allocator, loop.bus.memory(), kind, frame, 0));
    } catch (OutOfMemoryError e) {
      end(e);
    }
  }

  /**
   * Closes the connection: after a missing frame nothing more may be sent, or the counts would be
   * wrong.
   */
  private void end(OutOfMemoryError e) {
    RefusedMemory.rethrowOthers(e);
    failed = true;
    connection.inTurn(
        () -> connection.close(CloseReason.OVERLOADED, "the bus has no memory for this client"));
  }

  private String forbidden(String service) {
    return "to serve '"
        + service
        + "' is not allowed to this client ("
        + allowed.origin()
        + "; expected: a service that is)";
  }

  private void refuse(ErrorCode code, String message, long about, TypeCode type) {
    refusal.refuse(code, message, about, type.code(), "");
  }

  /**
   * Returns the client's registration in a service, or null if it does not serve it; any thread.
   */
  public @Nullable Registration registration(String service) {
    return byName.get(service);
  }

  /**
   * Ends all memberships with the connection.
   *
   * @param written number of calls that may have been written to the client
   */
  void close(long written) {
    if (closed) {
      return;
    }
    closed = true;
    serving.close(written);
    Iterator<Served> left = List.copyOf(byId.values()).iterator();
    if (left.hasNext()) {
      loop.calls.inSlices(
          () -> {
            if (left.hasNext()) {
              Served served = left.next();
              presence.ended(served.registration());
              registered.release(served.heldBytes(), 0);
            }
            return left.hasNext();
          });
    }
    byId.clear();
    byName.clear();
  }
}
