package io.eventbus.server.federation.call;

import io.eventbus.link.PortProbe;
import io.eventbus.link.stream.OpenedStream;
import io.eventbus.link.stream.StreamConnection;
import io.eventbus.server.call.MemberConnection;
import io.eventbus.server.call.MemberConnection.Undone;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.MemberPort;
import io.eventbus.server.call.PeerDemand;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.call.ServiceMember;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Stop;
import io.eventbus.server.memory.NumberMap;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
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
final class PeerCallStream extends OpenedStream implements MemberPort {
  private static final Logger LOG = LoggerFactory.getLogger(PeerCallStream.class);

  /** Refused attempts in a row, with a pause between them, after which the peer counts as ended. */
  private static final int ENDED_REFUSALS = 2;

  private final LoopStreams loop;
  private final Peer peer;
  private final CallStream stream;
  private final PeerReplies replies;
  private final Map<ServiceKey, ServiceGrant> byKey = new LinkedHashMap<>();
  private NumberMap<ServiceGrant> byNumber = new NumberMap<>();
  private MemberConnection serving;
  private long session;
  private boolean begins = true;
  private boolean draining;
  private long registrations;
  private long invocations;
  // Refused attempts in a row.
  private int refusals;

  PeerCallStream(LoopStreams loop, Peer peer) {
    super(
        loop.lanes(),
        peer.id().value(),
        PeerServices.KIND + "." + loop.number(),
        loop.lanes().maxFrameBytes());
    this.loop = loop;
    this.peer = peer;
    this.stream = new CallStream(loop, this::unsent);
    this.replies = new PeerReplies(loop, this);
    this.serving = loop.calls().bus(this);
    this.session = loop.lanes().random().nextLong();
  }

  long bytes() {
    return stream.out().bytes();
  }

  @Override
  public boolean isDueSoon() {
    return (!isUp() && isNeeded()) || wantsGrant();
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
    connectIfNeeded();
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

  private void connectIfNeeded() {
    if (isNeeded()) {
      connect();
    }
  }

  @Override
  protected @Nullable InetSocketAddress address() {
    return peer.address();
  }

  @Override
  protected void onRefused(Throwable error) {
    refusals = PortProbe.isRefusal(error) ? refusals + 1 : 0;
    if (refusals >= ENDED_REFUSALS && hasSession()) {
      LOG.info("Nobody listens at the address of bus {}: it has ended", peer.id());
      failAll();
    }
  }

  @Override
  protected void greet(StreamConnection opened) {
    refusals = 0;
    opened.write(
        PeerFrames.encode(
            PeerFrames.CALL_HELLO,
            new CallHello(loop.number(), session, begins, stream.in().taken())));
    opened.flush();
  }

  @Override
  public boolean onFrame(StreamConnection from, int typeCode, ByteBuffer in, int begin, int end) {
    if (from != connection()) {
      return true;
    }
    if (typeCode == PeerFrames.LANE_WELCOME) {
      onWelcome(from, PeerFrames.number(in, begin, end));
    } else if (typeCode == PeerFrames.LANE_ACK) {
      stream.out().acknowledge(PeerFrames.number(in, begin, end));
    } else {
      CallFrameHandlers.FROM_ACCEPTOR.handle(typeCode, replies, in, begin, end);
      stream.in().take();
    }
    return true;
  }

  private void onWelcome(StreamConnection from, long taken) {
    if (isUp()) {
      throw new IllegalArgumentException("a second welcome");
    }
    answered();
    if (taken < 0) {
      LOG.info("Bus {} does not know the calls that were sent to it any more", peer.id());
      failAll();
      // With another session.
      from.close();
      return;
    }
    begins = false;
    stream.up(from, taken);
    welcomed();
    loop.counters().connects.add(1);
    byKey.values().forEach(served -> granted(served, served.grant));
  }

  /** Fails all calls that are there; unsent calls go elsewhere. */
  private void failAll() {
    MemberConnection before = serving;
    long written = stream.callsWritten();
    serving = loop.calls().bus(this);
    session = loop.lanes().random().nextLong();
    begins = true;
    stream.restart();
    invocations = 0;
    byNumber = new NumberMap<>();
    // Before the others go: waiting calls must not find the service unserved.
    byKey.values().forEach(this::register);
    before.close(written);
  }

  @Override
  public void onReadEnd(StreamConnection from) {
    if (from == connection()) {
      stream.onReadEnd();
    }
  }

  @Override
  public void onWritable() {
    stream.out().drainSoon();
  }

  @Override
  public void onGoodbye(StreamConnection from) {
    if (from == connection()) {
      down();
      failAll();
    }
  }

  @Override
  protected void onDown(boolean wasUp) {
    byKey.values().forEach(served -> granted(served, served.grant));
    stream.down();
  }

  /** Returns a call that has not reached the peer. */
  private void unsent(long call) {
    serving.sentBack(call, Undone.UNSENT);
  }

  /** Called when the peer is given up, or has ended. */
  void abandon() {
    if (!isUp() && hasSession()) {
      giveUp();
    }
  }

  private void giveUp() {
    // The peer knows a session that ends.
    withdraw();
    failAll();
  }

  /** Returns whether the peer may have calls. */
  private boolean hasSession() {
    return !begins || !stream.out().isEmpty();
  }

  void onTick(long now) {
    connectIfNeeded();
    if (hasSession() && isTimedOut(loop.lanes().config().peerTimeout().toNanos(), now)) {
      LOG.warn("The stream of calls to bus {} could not be opened in time", peer.id());
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
    return isUp() && byKey.values().stream().anyMatch(s -> s.grant == 0);
  }

  @Override
  public void invoke(MemberInvocation i) {
    ServiceGrant served = served(i.registration());
    boolean isUp = isUp();
    if (!isUp || stream.isFull()) {
      invocations++;
      long call = i.call();
      MemberConnection to = serving;
      // A place may have been acquired before the connection was lost.
      loop.lanes().execute(() -> to.sentBack(call, isUp ? Undone.BUSY : Undone.UNSENT));
      return;
    }
    loop.counters().callsOut.add(1);
    stream.send(PeerCallFrame.of(loop.lanes().memory(), i, served.key, invocations++));
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
    if (isUp()) {
      send(
          PeerFrames.encode(
              PeerFrames.DEMAND, new Demand(served.key.name(), queued, served.key.account())));
    }
  }

  private void send(byte[] frame) {
    stream.send(frame, null);
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
    byKey.clear();
    failAll();
    serving.close(0);
    StreamConnection open = closed();
    stream.down();
    if (open != null) {
      open.close();
    }
  }

  @Override
  public String toString() {
    return "The stream of calls " + loop.number() + " to bus " + peer.id();
  }
}
