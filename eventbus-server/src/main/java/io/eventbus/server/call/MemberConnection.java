package io.eventbus.server.call;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.tunnel.TunnelHalf;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.NumberMap;
import io.eventbus.server.memory.ServiceShare;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a member of services, created with its first registration by {@link
 * LoopCalls#server}. Confined to the loop that owns the connection.
 */
public final class MemberConnection {
  private static final MemberPort CLOSED =
      new MemberPort() {
        @Override
        public void invoke(MemberInvocation invocation) {}

        @Override
        public void cancel(long call, String reason) {}
      };

  private final LoopCalls calls;
  private MemberPort end;
  private final String account;
  private final long number;
  private final boolean peer;
  private final ServiceShare held;
  private final Map<ServiceKey, ServiceMember> members = new HashMap<>();
  // Calls that the client has not answered, by the bus's numbers.
  private final NumberMap<Call> open = new NumberMap<>();
  // Bytes of those among them that have ended for their callers.
  private long cancelledBytes;
  // Allocated when the first is due.
  private TimerWheel.@Nullable Dues dues;
  private long invoked;
  private boolean closed;

  MemberConnection(
      LoopCalls calls,
      MemberPort end,
      String account,
      long number,
      boolean peer,
      ServiceShare held) {
    if (number == 0 && !peer) {
      throw new IllegalArgumentException("member: 0 (expected: a producer number)");
    }
    this.peer = peer;
    this.held = held;
    this.calls = calls;
    this.end = end;
    this.account = account;
    this.number = number;
  }

  /**
   * Makes the connection a member of a service. When this returns, the calls of every loop of this
   * bus may be given to it; some may have been already, from within. Returns null if the connection
   * is a member of that service already, or has ended.
   *
   * @param concurrency calls that the client works on at once; 0: it takes none
   */
  public @Nullable ServiceMember register(long registration, String service, int concurrency) {
    calls.checkLoop();
    ServiceKey key = new ServiceKey(account, service);
    if (closed || members.containsKey(key)) {
      return null;
    }
    LocalService joined = calls.directory().join(key);
    ServiceMember member =
        new ServiceMember(
            this, joined, registration, concurrency, false, calls.loops(), calls.now());
    members.put(key, member);
    joined.add(member, concurrency > 0, calls.now());
    joined.raiseMaxWindow(member.window().limit());
    calls.dispatcher().offer(member);
    return member;
  }

  /**
   * Registers the peer for which this connection stands as a member. Calls wait for it, and those
   * of every loop may be given to it as soon as there are {@linkplain ServiceMember#grant places}.
   * Returns null if it is a member already, or this connection has ended.
   */
  public @Nullable ServiceMember serve(long registration, ServiceKey service) {
    calls.checkLoop();
    if (closed || members.containsKey(service)) {
      return null;
    }
    LocalService joined = calls.directory().join(service);
    ServiceMember member =
        new ServiceMember(
            this, joined, registration, PeerDemand.FIRST_GRANT, true, calls.loops(), calls.now());
    members.put(service, member);
    calls.services().setPeer(member, true);
    joined.serves(1, member, calls.now());
    return member;
  }

  /** Removes a member that leaves. */
  void remove(ServiceMember member) {
    members.remove(member.service().key());
  }

  /** Gives the client a call, for which a place was acquired. */
  void invoke(Call call, long nowNanos) {
    ServiceMember member = call.member();
    if (member.isGone()) {
      member.window().release();
      release(call, ReturnReason.UNWRITTEN, nowNanos);
    } else if (call.isLate(nowNanos)) {
      release(call, ReturnReason.EXPIRED, nowNanos);
      calls.dispatcher().release(member);
    } else {
      call.invoked(invoked++, nowNanos);
      open.put(call.number, call);
      member.began(nowNanos);
      end.invoke(call);
    }
  }

  private void release(Call call, ReturnReason reason, long nowNanos) {
    LoopCalls owner = call.owner();
    if (owner == calls) {
      calls.completion().returned(call, reason, nowNanos);
    } else {
      CallNote note = calls.startNote(owner.number(), CallNote.Kind.RETURN);
      note.call = call;
      note.returned = reason;
    }
  }

  /** Notifies the client that a call has ended for its caller; perhaps it has answered already. */
  void cancelled(long call, boolean timedOut, String reason, long nowNanos) {
    Call found = open.get(call);
    if (found == null) {
      end.cancelTunnel(call, reason);
      return;
    }
    found.cancelled();
    cancelledBytes += CallHeap.CALL;
    held.add(CallHeap.CALL);
    if (timedOut) {
      found.member().timedOut(found, nowNanos);
    }
    end.cancel(call, reason);
    long max = held.isLastRoom() ? ServiceShare.SMALL_BYTES : held.ownPart() / 2;
    if (!peer && cancelledBytes > max) {
      end.closeUnresponsive(
          "unanswered cancelled calls of the member take "
              + cancelledBytes
              + " bytes (expected: at most "
              + max
              + "); answer cancelled calls, too, or close the connection");
    }
  }

  /** Removes a call that has left the client. */
  private void left(Call call) {
    if (call.isCancelled()) {
      cancelledBytes -= CallHeap.CALL;
      held.release(CallHeap.CALL, 0);
    }
  }

  /**
   * Handles a member's reply to a call. Returns false if this connection has no such call, for
   * instance because it has answered it before; then nothing was done.
   *
   * @param handledMicros time that the member worked, in microseconds, by its own account
   * @param reply for {@link CallerPort#reply}, which may run on another loop; retained until then
   */
  public boolean reply(long call, int handledMicros, Delivery reply) {
    return reply(call, handledMicros, 0, reply);
  }

  /** Handles a member's reply to a call, which accepts it if it is a stream or tunnel. */
  public boolean reply(long call, int handledMicros, long limit, Delivery reply) {
    calls.checkLoop();
    Call found = open.remove(call);
    if (found == null) {
      return false;
    }
    left(found);
    long now = calls.now();
    ServiceMember member = found.member();
    member.ended();
    member.succeeded(found, now);
    LoopCalls owner = found.owner();
    TunnelHalf tunnel = accepted(found, limit);
    if (owner == calls) {
      calls.completion().replied(found, handledMicros, tunnel, reply, now);
    } else {
      reply.retain();
      CallNote note = calls.startNote(owner.number(), CallNote.Kind.REPLY);
      note.call = found;
      note.handledMicros = handledMicros;
      note.tunnel = tunnel;
      note.body = reply;
      end.chargeWork(CallHandOver.nanos(reply.size()));
    }
    if (tunnel != null) {
      tunnel.endIfTooMany();
    }
    calls.dispatcher().release(member);
    return true;
  }

  /**
   * Creates the member's end of a stream or tunnel; null if it is none, or has ended for its
   * caller.
   */
  private @Nullable TunnelHalf accepted(Call call, long limit) {
    TunnelHalf caller = call.tunnel();
    if (caller == null) {
      return null;
    }
    TunnelHalf tunnel = end.accept(call.number, limit, caller);
    if (!call.isCancelled()) {
      return tunnel;
    }
    tunnel.acceptedTooLate();
    return null;
  }

  /**
   * Records which member has answered at a peer, just before its {@link #reply} or {@link
   * #failure}. Returns the peer as a member of the service, or null if this connection has no such
   * call.
   *
   * @param member number of the member, 0 for none
   * @param queuedMicros time that the call waited there, in microseconds
   */
  public @Nullable ServiceMember answered(long call, long member, int queuedMicros) {
    Call found = open.get(call);
    if (found == null) {
      return null;
    }
    found.answered(member, queuedMicros);
    return found.member();
  }

  /**
   * Handles a call that a peer has not executed: it goes to others, if that is safe. Returns false
   * if this connection has no such call; then nothing was done.
   */
  public boolean sentBack(long call, Undone reason) {
    calls.checkLoop();
    Call found = open.remove(call);
    if (found == null) {
      return false;
    }
    left(found);
    ServiceMember member = found.member();
    member.ended();
    ReturnReason returned =
        switch (reason) {
          case UNSENT -> ReturnReason.UNWRITTEN;
          case BUSY -> ReturnReason.BUSY;
          case NO_MEMBER -> ReturnReason.NOT_THERE;
          case MEMBER_LOST -> ReturnReason.LOST;
        };
    release(found, returned, calls.now());
    calls.dispatcher().release(member);
    return true;
  }

  /** Reason why a peer has not answered a call. */
  public enum Undone {
    /** Never sent there, or sent and not arrived. */
    UNSENT,
    /** No place was free. */
    BUSY,
    /** No member serves it, or not the requested one. */
    NO_MEMBER,
    /** A member was lost with it. */
    MEMBER_LOST
  }

  /**
   * Handles a member's failure of a call. {@code REFUSED} and {@code OVERLOADED} with {@code
   * executed} NO make the bus try other members first. Returns false if this connection has no such
   * call; then nothing was done.
   *
   * @param retryAfterMillis milliseconds after which a retry may succeed, 0 for no advice
   * @param failure for {@link CallerPort#failure}, which may run on another loop; retained until
   *     then
   */
  public boolean failure(
      long call, FailureCode code, Execution executed, long retryAfterMillis, Delivery failure) {
    calls.checkLoop();
    Call found = open.remove(call);
    if (found == null) {
      return false;
    }
    left(found);
    long now = calls.now();
    ServiceMember member = found.member();
    member.ended();
    if (code == FailureCode.INTERNAL || isRefusal(code, executed)) {
      member.failed(now);
    } else {
      member.succeeded(found, now);
    }
    LoopCalls owner = found.owner();
    if (owner == calls) {
      calls.completion().failed(found, code, executed, retryAfterMillis, failure, now);
    } else {
      failure.retain();
      CallNote note = calls.startNote(owner.number(), CallNote.Kind.FAILURE);
      note.call = found;
      note.code = code;
      note.executed = executed;
      note.retryAfterMillis = retryAfterMillis;
      note.body = failure;
      end.chargeWork(CallHandOver.nanos(failure.size()));
    }
    calls.dispatcher().release(member);
    return true;
  }

  /** Returns whether another member may get a call that this one has refused. */
  static boolean isRefusal(FailureCode code, Execution executed) {
    return executed == Execution.NO
        && (code == FailureCode.REFUSED || code == FailureCode.OVERLOADED);
  }

  /**
   * Ends all memberships with the connection: its members get no calls from now on, and {@link
   * MemberPort} is not called again. Unanswered calls end or go to others: now or, if there are
   * many, in later turns. A second call does nothing.
   *
   * @param written number of {@link MemberPort#invoke invocations} of this connection, from the
   *     first on, of which the network may have been given a byte; the client cannot have started
   *     those after them. {@link Long#MAX_VALUE} if unknown
   */
  public void close(long written) {
    calls.checkLoop();
    if (closed) {
      return;
    }
    closed = true;
    end = CLOSED;
    // The end of one member must not dispatch a call to another.
    members.values().forEach(ServiceMember::stop);
    if (!members.isEmpty() || !open.isEmpty()) {
      calls.slices().add(new Remains(written));
    }
    members.clear();
  }

  /** Memberships and unanswered calls of a connection that has ended. */
  private final class Remains implements Slices.Work {
    private final List<ServiceMember> leaving = new ArrayList<>(members.values());
    private final long[] unanswered =
        open.values().stream()
            // Each goes before those that wait.
            .sorted(Comparator.comparingLong(Call::place).reversed())
            .mapToLong(call -> call.number)
            .toArray();
    private final long written;
    private int left;
    private int returned;

    Remains(long written) {
      this.written = written;
    }

    @Override
    public boolean step(long nowNanos) {
      if (left < leaving.size()) {
        leaving.get(left++).leave();
      } else if (returned < unanswered.length) {
        release(open.remove(unanswered[returned++]), nowNanos);
      }
      return left < leaving.size() || returned < unanswered.length;
    }

    private void release(@Nullable Call call, long nowNanos) {
      if (call != null) {
        left(call);
        call.member().ended();
        ReturnReason reason = peer ? ReturnReason.BUS_LOST : ReturnReason.LOST;
        MemberConnection.this.release(
            call, call.place() < written ? reason : ReturnReason.UNWRITTEN, nowNanos);
      }
    }
  }

  /** Returns the list of its members' due pause ends. */
  TimerWheel.Dues dues() {
    TimerWheel.Dues created = dues;
    if (created == null) {
      created = new TimerWheel.Dues(calls.deadlines(), nanos -> end.chargeWork(nanos));
      dues = created;
    }
    return created;
  }

  LoopCalls calls() {
    return calls;
  }

  MemberPort end() {
    return end;
  }

  /** Returns the member's number; any thread. */
  long number() {
    return number;
  }
}
