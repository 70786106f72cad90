package io.eventbus.server.federation.call;

import io.eventbus.base.Backoff;
import io.eventbus.link.LinkPeer;
import io.eventbus.link.PortProbe;
import io.eventbus.server.call.MemberConnection;
import io.eventbus.server.call.MemberConnection.Undone;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.MemberPort;
import io.eventbus.server.call.PeerDemand;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.call.ServiceMember;
import io.eventbus.server.federation.call.RetransmitQueue.Kept;
import io.eventbus.server.federation.lane.LaneLoop;
import io.eventbus.server.federation.lane.LaneState;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Stop;
import io.eventbus.server.memory.NumberMap;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Peer that serves, as one loop calls it: by a stream that this bus opens. To the selection of
 * members it is a member that grants its own calls, and it has no places while there is no
 * connection: until then calls wait where they can go elsewhere. Confined to the loop.
 *
 * <p>A session is a set of calls that end together: if the peer no longer knows it, its addresses
 * refused connections twice in a row, or it cannot be reached for long, everything sent is lost.
 *
 * <p>It is one class because the session, its connection and its members change together.
 */
final class PeerCallStream implements MemberPort, CallConnection.End {
  private static final Logger LOG = LoggerFactory.getLogger(PeerCallStream.class);

  /** Refused attempts in a row, with a pause between them, after which the peer counts as ended. */
  private static final int ENDED_REFUSALS = 2;

  private final LoopStreams loop;
  private final Peer peer;
  private final ReliableStream stream;
  private final Backoff reconnect = LaneLoop.reconnectBackoff();
  private final PeerReplies replies;
  private final Map<ServiceKey, ServiceGrant> byKey = new LinkedHashMap<>();
  private NumberMap<ServiceGrant> byNumber = new NumberMap<>();
  private LaneState state = LaneState.DOWN;
  private MemberConnection serving;
  private long session;
  private boolean begins = true;
  private @Nullable CallConnection connection;
  private boolean draining;
  private long registrations;
  private long invocations;
  private long downSince;
  // Refused attempts in a row.
  private int refusals;

  PeerCallStream(LoopStreams loop, Peer peer) {
    this.loop = loop;
    this.peer = peer;
    this.stream = new ReliableStream(loop, this::unsent);
    this.replies = new PeerReplies(loop, this);
    this.serving = loop.calls().bus(this);
    this.session = loop.lanes().random().nextLong();
    this.downSince = loop.now();
  }

  boolean isUp() {
    return state == LaneState.UP;
  }

  long bytes() {
    return stream.out().bytes();
  }

  /** Returns whether it has a deadline soon. */
  boolean isDueSoon() {
    return (state != LaneState.UP && isNeeded()) || wantsGrant();
  }

  private boolean isNeeded() {
    return !byKey.isEmpty() || hasSession();
  }

  /** Adds a service of the peer. */
  void serves(ServiceKey service) {
    if (byKey.containsKey(service)) {
      return;
    }
    ServiceGrant served = new ServiceGrant(service);
    byKey.put(service, served);
    register(served);
    connect();
  }

  private void register(ServiceGrant served) {
    long number = ++registrations;
    byNumber.put(number, served);
    ServiceMember member = serving.serve(number, served.key);
    served.member = member;
    if (member != null) {
      member.draining(draining);
    }
    granted(served, PeerDemand.FIRST_GRANT);
  }

  /** Removes a service of the peer. Calls that are there already go on. */
  void servesNoMore(ServiceKey service) {
    ServiceGrant served = byKey.remove(service);
    ServiceMember member = served == null ? null : served.member;
    if (member != null) {
      byNumber.remove(member.registration());
      member.unregister();
    }
  }

  /** Sets whether the peer drains its clients. */
  void draining(boolean drains) {
    draining = drains;
    for (ServiceGrant served : byKey.values()) {
      ServiceMember member = served.member;
      if (member != null) {
        member.draining(drains);
      }
    }
  }

  private void connect() {
    InetSocketAddress address = peer.address();
    if (state != LaneState.DOWN || address == null || !isNeeded() || !reconnect.isDue(loop.now())) {
      return;
    }
    state = state.to(LaneState.CONNECTING);
    loop.lanes()
        .open(
            PeerServices.KIND,
            address,
            linkPeer -> new CallConnection(loop, linkPeer, this),
            error -> {
              if (state == LaneState.CONNECTING && connection == null) {
                LOG.debug("The stream of calls to bus {} cannot be opened", peer.id(), error);
                down();
                refusals = PortProbe.isRefusal(error) ? refusals + 1 : 0;
                if (refusals >= ENDED_REFUSALS && hasSession()) {
                  LOG.info("Nobody listens at the address of bus {}: it has ended", peer.id());
                  failAll();
                }
              }
            });
  }

  @Override
  public void onOpen(CallConnection opened) {
    LinkPeer linkPeer = opened.linkPeer();
    refusals = 0;
    if (state != LaneState.CONNECTING || !linkPeer.bus().equals(peer.id().value())) {
      opened.close();
      if (state == LaneState.CONNECTING && connection == null) {
        down();
      }
      return;
    }
    connection = opened;
    opened.write(
        PeerFrames.encode(
            PeerFrames.CALL_HELLO, new CallHello(loop.number(), session, begins, stream.taken())));
    opened.flush();
  }

  @Override
  public void onFrame(CallConnection from, ByteBuffer in, int typeCode, int begin, int end) {
    if (from != connection) {
      return;
    }
    if (typeCode == PeerFrames.LANE_WELCOME) {
      onWelcome(from, PeerFrames.number(in, begin, end));
    } else if (typeCode == PeerFrames.LANE_ACK) {
      stream.out().acknowledged(PeerFrames.number(in, begin, end));
    } else {
      CallFrameHandlers.FROM_ACCEPTOR.handle(typeCode, replies, in, begin, end);
      stream.onHandled();
    }
  }

  private void onWelcome(CallConnection from, long taken) {
    if (state != LaneState.CONNECTING) {
      throw new IllegalArgumentException("a second welcome");
    }
    reconnect.succeeded();
    if (taken < 0) {
      LOG.info("Bus {} does not know the calls that were sent to it any more", peer.id());
      failAll();
      // With another session.
      from.close();
      return;
    }
    begins = false;
    stream.up(from, taken);
    state = state.to(LaneState.UP);
    loop.counters().connects.add(1);
    byKey.values().forEach(served -> granted(served, served.grant));
  }

  /** Fails all calls that are there; unsent calls go elsewhere. */
  private void failAll() {
    MemberConnection before = serving;
    long written = stream.out().callsWritten();
    serving = loop.calls().bus(this);
    session = loop.lanes().random().nextLong();
    begins = true;
    stream.clear();
    invocations = 0;
    byNumber = new NumberMap<>();
    // Before the others go: waiting calls must not find the service unserved.
    byKey.values().forEach(this::register);
    before.close(written);
  }

  @Override
  public void onReadEnd(CallConnection from) {
    if (from == connection) {
      stream.onReadEnd();
    }
  }

  @Override
  public void onWritable() {
    stream.drainSoon();
  }

  @Override
  public void onGoodbye(CallConnection from) {
    if (from == connection) {
      down();
      failAll();
    }
  }

  @Override
  public void onClosed(CallConnection closed) {
    if (closed == connection) {
      down();
    }
  }

  private void down() {
    if (state == LaneState.UP) {
      downSince = loop.now();
    }
    if (state != LaneState.DOWN) {
      state = state.to(LaneState.DOWN);
    }
    connection = null;
    stream.down();
    reconnect.failed(loop.now(), loop.lanes().random());
    byKey.values().forEach(served -> granted(served, served.grant));
    List<Long> unsent = stream.out().removeUnsent();
    // Each goes before those that wait.
    for (int i = unsent.size() - 1; i >= 0; i--) {
      unsent(unsent.get(i));
    }
    loop.lanes().checkSoon();
  }

  /** Returns a call that has not reached the peer. */
  private void unsent(long call) {
    serving.sentBack(call, Undone.UNSENT);
  }

  /** Called when the peer is given up, or has ended. */
  void abandon() {
    if (state != LaneState.UP && hasSession()) {
      giveUp();
    }
  }

  private void giveUp() {
    CallConnection greeted = connection;
    if (greeted != null) {
      // The peer knows a session that ends.
      down();
      greeted.close();
    }
    failAll();
  }

  /** Returns whether the peer may have calls. */
  private boolean hasSession() {
    return !begins || !stream.out().isEmpty();
  }

  void onTick(long now) {
    if (state == LaneState.DOWN) {
      connect();
    }
    if (state != LaneState.UP
        && hasSession()
        && now - downSince > loop.lanes().config().peerTimeout().toNanos()) {
      LOG.warn("The stream of calls to bus {} could not be opened in time", peer.id());
      downSince = now;
      giveUp();
    }
    if (wantsGrant()) {
      for (ServiceGrant served : byKey.values()) {
        if (served.grant == 0) {
          demand(served, 0);
        }
      }
    }
  }

  /**
   * Returns whether to ask for a grant: the last grant of the peer for a service was 0, because the
   * service has no members there.
   */
  private boolean wantsGrant() {
    return state == LaneState.UP && byKey.values().stream().anyMatch(s -> s.grant == 0);
  }

  @Override
  public void invoke(MemberInvocation i) {
    ServiceGrant served = served(i.registration());
    boolean isUp = isUp();
    if (!isUp || stream.out().bytes() > loop.lanes().config().queueBytes()) {
      invocations++;
      long call = i.call();
      MemberConnection to = serving;
      // A place may have been acquired before the connection was lost.
      loop.lanes().execute(() -> to.sentBack(call, isUp ? Undone.BUSY : Undone.UNSENT));
      return;
    }
    loop.counters().callsOut.add(1);
    stream.send(Kept.of(i, served.key, invocations++));
  }

  private ServiceGrant served(long registration) {
    ServiceGrant served = byNumber.get(registration);
    if (served == null) {
      throw new IllegalStateException("registration: " + registration + " (expected: a known one)");
    }
    return served;
  }

  @Override
  public void cancel(long call, String reason) {
    send(PeerFrames.encode(PeerFrames.STOP, new Stop(call, reason)));
  }

  @Override
  public void announceDemand(long registration, int queued) {
    demand(served(registration), queued);
  }

  private void demand(ServiceGrant served, int queued) {
    if (state == LaneState.UP) {
      send(
          PeerFrames.encode(
              PeerFrames.DEMAND, new Demand(served.key.name(), queued, served.key.account())));
    }
  }

  private void send(byte[] frame) {
    stream.send(new Kept(frame, null));
  }

  MemberConnection serving() {
    return serving;
  }

  /** Sets the number of calls that the peer grants to a member. */
  void granted(ServiceMember member, int grant) {
    ServiceGrant served = byNumber.get(member.registration());
    if (served != null) {
      granted(served, grant);
    }
  }

  /** Sets the number of calls that the peer grants to a service. */
  void granted(ServiceKey service, int grant) {
    ServiceGrant served = byKey.get(service);
    if (served != null) {
      granted(served, grant);
    }
  }

  private void granted(ServiceGrant served, int grant) {
    served.grant = grant;
    if (grant == 0) {
      loop.lanes().checkSoon();
    }
    ServiceMember member = served.member;
    if (member != null) {
      member.grant(isUp() ? grant : 0);
    }
  }

  /** Ends with this bus: nothing is sent again. */
  void end() {
    stream.end();
  }

  /** Closes the stream: the peer is forgotten. */
  void close() {
    CallConnection open = connection;
    byKey.clear();
    failAll();
    serving.close(0);
    if (state != LaneState.DOWN) {
      state = state.to(LaneState.DOWN);
    }
    connection = null;
    stream.down();
    if (open != null) {
      open.close();
    }
  }
}
