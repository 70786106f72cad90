package io.eventbus.server.session;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.eventbus.protocol.DataView;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Cancel;
import io.eventbus.schema.ErrorCode;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.queue.Outbound;
import io.eventbus.server.quota.ConnectionQuota;
import io.eventbus.server.security.Permissions;
import io.eventbus.server.security.Principal;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frames of calls, services, streams and tunnels of one client. What handles them is allocated on
 * first use: most clients neither call nor serve. Confined to the loop except for {@link #services}
 * and {@link #keptBytes}.
 */
final class SessionCallFrames {
  private final LoopContext loop;
  private final Outbound out;
  private final ConnectionControl connection;
  private final Session session;
  private final SessionAdmission admission;
  private final SessionMove move;
  private final ServiceShare callShare;
  private final ServiceShare registrationShare;
  // Budget clock and total at the end of the last call of this message: the clock is read once
  // for each, not twice. 0 before the first.
  private long clockedAt;
  private long clockedTotal;
  private @Nullable SessionCalls calls;
  private volatile @Nullable SessionServices services;
  private @Nullable SessionTunnels tunnels;

  /** Fair-queueing key: the clients of one user take turns together where calls wait. */
  private record User(String account, String subject) {}

  SessionCallFrames(
      LoopContext loop,
      Outbound out,
      ConnectionControl connection,
      AddressLimits address,
      Session session,
      SessionAdmission admission,
      SessionMove move) {
    this.loop = loop;
    this.out = out;
    this.connection = connection;
    this.session = session;
    this.admission = admission;
    this.move = move;
    this.callShare = loop.calls.share(address);
    this.registrationShare = loop.calls.registrations(address);
  }

  /** Called before the frames of a message. */
  void beginMessage() {
    clockedAt = 0;
  }

  /**
   * Handles a {@code Request} or a {@code Reply}.
   *
   * @param receivedAt time of its receipt, in microseconds since the epoch
   * @param nowNanos {@link System#nanoTime} at its receipt
   */
  void call(ByteBuffer in, int from, int to, TypeCode type, long receivedAt, long nowNanos) {
    if (clockedAt == 0) {
      clockedAt = loop.budget().now();
      clockedTotal = loop.budget().total();
    }
    try {
      if (type == TypeCode.REQUEST) {
        request(in, from, to, receivedAt);
      } else {
        answered(getOrCreateServices().reply(in, from, to, nowNanos), type.code());
      }
    } finally {
      clockedAt = loop.budget().spendSince(clockedAt, clockedTotal);
      clockedTotal = loop.budget().total();
    }
  }

  private void request(ByteBuffer in, int from, int to, long receivedAt) {
    move.complete();
    if (!getOrCreateCalls().request(in, from, to, receivedAt)) {
      session.violation(
          "the call "
              + loop.request.call()
              + " is in flight already (expected: a number of its own)",
          TypeCode.REQUEST.code());
    }
  }

  /** Handles a part of a message of a stream or tunnel. */
  void data(ByteBuffer in, int from, int to, long nowNanos) {
    move.complete();
    tunnelFrame(getOrCreateTunnels().data(in, from, to, nowNanos), TypeCode.DATA.code());
  }

  /** Handles credit for deliveries, for a consumer, or for a stream or tunnel. */
  void credit(ByteBuffer in, int from, int to, long nowNanos) {
    DataView credit = loop.data;
    credit.readCredit(in, from, to);
    SessionTunnels open = tunnels;
    if (credit.call() == 0 && credit.consumer() != 0) {
      SessionConsumers consumers = session.consumersIfAny();
      if (consumers != null) {
        consumers.credit(credit.consumer(), credit.limit());
      }
    } else if (credit.call() == 0) {
      out.grant(credit.limit());
    } else if (open != null) {
      tunnelFrame(open.credit(credit, nowNanos), TypeCode.CREDIT.code());
    }
  }

  /** Closes a client that sends too many wrong stream and tunnel frames. */
  private void tunnelFrame(boolean right, int typeCode) {
    if (!right) {
      session.violation(
          "too many frames of streams and tunnels that this client does not have, or that are"
              + " wrong",
          typeCode);
    }
  }

  /** Closes a client that answers calls it was not given. */
  private void answered(boolean known, int typeCode) {
    if (!known) {
      session.violation("too many answers to calls that this client does not have", typeCode);
    }
  }

  /** Cancels a call; an unknown call may have ended meanwhile. */
  void cancel(Cancel cancel) {
    SessionTunnels open = tunnels;
    if (open != null && open.cancel(cancel.getCall(), cancel.getReason())) {
      return;
    }
    if (calls != null) {
      calls.cancel(cancel);
    }
  }

  /** Handles the failure of a call that the client serves. */
  void failure(ByteBuffer in, int from, int to, long nowNanos) {
    SessionTunnels open = tunnels;
    if (open != null && open.failure(in, from, to)) {
      return;
    }
    answered(getOrCreateServices().failure(in, from, to, nowNanos), TypeCode.FAILURE.code());
  }

  private SessionCalls getOrCreateCalls() {
    SessionCalls created = calls;
    if (created == null) {
      Principal proven = admission.principal();
      String subject = proven.subject();
      Object share = subject.isEmpty() ? session : new User(proven.account(), subject);
      created =
          new SessionCalls(
              loop,
              out,
              connection,
              new CallerInfo(session.producer(), subject.getBytes(UTF_8), proven.account(), share),
              callShare,
              proven.permissions(),
              admission,
              this::getOrCreateTunnels);
      created.share(admission.quotas());
      calls = created;
    }
    return created;
  }

  private SessionTunnels getOrCreateTunnels() {
    SessionTunnels created = tunnels;
    if (created == null) {
      created = new SessionTunnels(loop, out, connection, callShare);
      tunnels = created;
    }
    return created;
  }

  /** Returns the services of the client, created on first use. */
  SessionServices getOrCreateServices() {
    SessionServices created = services;
    if (created == null) {
      created =
          new SessionServices(
              loop,
              out,
              connection,
              callShare,
              registrationShare,
              session::refuse,
              admission.principal(),
              session.producer(),
              admission,
              session.subscriptions(),
              new SessionPresence(loop.calls.presence(), session, move),
              move,
              this::getOrCreateTunnels);
      services = created;
    }
    return created;
  }

  /** Refuses a subscription whose id is that of a registration; returns whether it did. */
  boolean refuseSubscription(long id) {
    SessionServices serves = services;
    if (serves == null || !serves.has(id)) {
      return false;
    }
    session.refuse(
        ErrorCode.DUPLICATE_SUBSCRIPTION,
        "the number " + id + " is that of a service (expected: a new one)",
        id,
        TypeCode.SUBSCRIBE.code(),
        "");
    return true;
  }

  /** Returns the services of the client, or null if it never served any; any thread. */
  @Nullable SessionServices services() {
    return services;
  }

  /** Returns whether the client has called or served. */
  boolean areUsed() {
    return calls != null || services != null;
  }

  /** Sets the permissions that apply from now on. */
  void permit(Permissions permissions) {
    if (calls != null) {
      calls.permit(permissions);
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.permit(permissions);
    }
  }

  /** Sets the quotas that apply from now on; null for none. */
  void share(@Nullable ConnectionQuota share) {
    if (calls != null) {
      calls.share(share);
    }
  }

  /** Returns the share of the memory for calls that the connection uses. */
  ServiceShare callShare() {
    return callShare;
  }

  /** Returns the estimated bytes of services, of open calls with their requests, and of tunnels. */
  long keptBytes() {
    return callShare.bytes() + registrationShare.bytes();
  }

  /** Ends all calls, services and tunnels with the connection. */
  void close() {
    if (calls != null) {
      calls.close();
    }
    SessionServices serves = services;
    if (serves != null) {
      serves.close(move.isClosingWhenWritten() ? Long.MAX_VALUE : out.invokesWritten());
    }
    if (tunnels != null) {
      tunnels.close();
    }
  }
}
