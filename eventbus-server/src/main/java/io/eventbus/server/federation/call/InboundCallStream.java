package io.eventbus.server.federation.call;

import io.eventbus.link.stream.StreamConnection;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.ServiceFrames;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallRequest;
import io.eventbus.server.call.CallerConnection;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.call.CallerPort;
import io.eventbus.server.call.PeerDemand;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.BusCallView;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Grant;
import io.eventbus.server.federation.schema.Stop;
import io.eventbus.server.memory.NumberMap;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls of a peer for local members, by one of its streams, over all its connections. Acts as a
 * caller. Confined to its loop.
 */
final class InboundCallStream implements CallerPort, StreamConnection.End {
  private static final Logger LOG = LoggerFactory.getLogger(InboundCallStream.class);

  /** Maximum open calls: the grants of the peer are far less. */
  private static final int MAX_CALLS = 65_536;

  private static final ByteBuffer NO_DETAILS = ByteBuffer.allocate(0);

  private final LoopStreams loop;
  private final String bus;
  private final int number;
  private final CallStream stream;
  private final BusCallView call = new BusCallView();
  private final CallRequest request = new CallRequest();
  private final Map<ServiceKey, PeerDemand> demands = new HashMap<>();
  private final NumberMap<ServiceKey> open = new NumberMap<>();
  private @Nullable CallerConnection client;
  private @Nullable StreamConnection connection;
  private long session;
  private long downSince;

  InboundCallStream(LoopStreams loop, String bus, int number) {
    this.loop = loop;
    this.bus = bus;
    this.number = number;
    this.stream = new CallStream(loop, call -> {});
  }

  /** Returns whether it has state that is lost if the peer does not come back. */
  boolean isWaiting() {
    return client != null && connection == null;
  }

  /** Returns whether it can be removed. */
  boolean isIdle() {
    return client == null && connection == null;
  }

  long bytes() {
    return stream.out().bytes();
  }

  void onHello(StreamConnection from, CallHello hello) {
    if (hello.getStream() != number) {
      throw new CorruptedFrameException(
          "stream " + hello.getStream() + " on stream " + number + " of bus " + bus);
    }
    StreamConnection before = connection;
    connection = from;
    stream.down();
    if (before != null) {
      before.close();
    }
    boolean known = client != null && session == hello.getSession();
    if (!known) {
      drop();
      if (!hello.getBegins()) {
        from.write(PeerFrames.encode(PeerFrames.LANE_WELCOME, -1));
        from.flush();
        return;
      }
      session = hello.getSession();
      client = loop.calls().bus(this, "bus " + bus, MAX_CALLS);
    }
    from.write(PeerFrames.encode(PeerFrames.LANE_WELCOME, stream.in().taken()));
    from.flush();
    stream.up(from, hello.getTaken());
  }

  @Override
  public boolean onFrame(StreamConnection by, int typeCode, ByteBuffer in, int from, int to) {
    if (by != connection || client == null) {
      // Replaced, or the peer was told that its session is unknown.
      return true;
    }
    if (typeCode == PeerFrames.LANE_ACK) {
      stream.out().acknowledge(PeerFrames.number(in, from, to));
    } else {
      CallFrameHandlers.FROM_OPENER.handle(typeCode, this, in, from, to);
      stream.in().take();
    }
    return true;
  }

  @Override
  public void onReadEnd(StreamConnection by) {
    if (by == connection) {
      stream.onReadEnd();
    }
  }

  @Override
  public void onWritable() {
    stream.out().drainSoon();
  }

  @Override
  public void onGoodbye(StreamConnection by) {
    if (by == connection) {
      drop();
    }
  }

  @Override
  public void onClosed(StreamConnection closed) {
    if (closed == connection) {
      connection = null;
      stream.down();
      downSince = loop.now();
      loop.lanes().checkSoon();
    }
  }

  void onTick(long now) {
    if (isWaiting() && now - downSince > loop.lanes().config().peerTimeout().toNanos()) {
      LOG.info("Bus {} has not come back; its calls are cancelled", bus);
      drop();
    }
  }

  /** Cancels the calls of the session: members learn that no caller waits for them. */
  void drop() {
    CallerConnection ended = client;
    client = null;
    stream.restart();
    open.clear();
    demands.values().forEach(PeerDemand::close);
    demands.clear();
    if (ended != null) {
      ended.close();
    }
  }

  /** Ends with this bus: nothing is sent again. */
  void end() {
    stream.end();
  }

  private CallerConnection client() {
    CallerConnection calls = client;
    if (calls == null) {
      throw new IllegalStateException("bus " + bus + " has no session");
    }
    return calls;
  }

  void onCall(ByteBuffer in, int from, int to) {
    call.read(in, from, to);
    Delivery body = loop.body(in, call.bodyStart, call.bodyLength);
    try {
      byte[] name = call.service.getBytes(StandardCharsets.UTF_8);
      request.service = ByteBuffer.wrap(name);
      request.serviceStart = 0;
      request.serviceLength = name.length;
      request.call = call.call;
      request.fromPeer = true;
      request.caller = new CallerInfo(call.caller, call.identity, call.account, bus);
      request.request = call.request;
      request.returnable = call.returnable;
      request.priority = call.priority;
      request.timeoutMillis = call.timeoutMillis;
      request.waitMillis = 0;
      request.idempotent = call.idempotent;
      request.attempt = call.attempt;
      request.member = call.member;
      request.receivedAt = call.receivedAt;
      request.schema = call.schema;
      request.methodLength = call.methodLength;
      request.body = body;
      ServiceKey service = new ServiceKey(call.account, call.service);
      if (open.containsKey(call.call)) {
        throw new CorruptedFrameException("call " + call.call + " of bus " + bus + " twice");
      }
      open.put(call.call, service);
      demands.computeIfAbsent(service, loop.calls()::demand).began(call.queued);
      client().begin(request);
    } finally {
      request.body = null;
      request.caller = null;
      body.release();
    }
  }

  void onStop(Stop stop) {
    client().cancel(stop.getCall(), stop.getReason());
  }

  void onDemand(Demand frame) {
    ServiceKey service = new ServiceKey(frame.getAccount(), frame.getService());
    PeerDemand demand = demands.get(service);
    boolean passing = demand == null;
    if (demand == null) {
      demand = loop.calls().demand(service);
    }
    demand.queued(frame.getQueued());
    Grant grant = new Grant(service.name(), demand.grant(), service.account());
    send(PeerFrames.encode(PeerFrames.GRANT, grant), null);
    if (passing) {
      demand.close();
    }
  }

  /** Removes an ended call; returns the new grant of its service. */
  private int ended(long ended) {
    ServiceKey service = open.remove(ended);
    PeerDemand demand = service == null ? null : demands.get(service);
    if (service == null || demand == null) {
      throw new IllegalStateException("call: " + ended + " (expected: one that is open)");
    }
    int grant = demand.grant();
    demand.ended();
    if (demand.open() == 0) {
      demands.remove(service);
      demand.close();
    }
    return grant;
  }

  private void send(byte[] start, @Nullable Delivery body) {
    stream.send(start, body);
  }

  @Override
  public void reply(
      long answered, long member, int queuedMicros, int handledMicros, Delivery reply) {
    if (stream.isFull()) {
      failure(
          answered,
          member,
          FailureCode.OVERLOADED,
          Execution.YES,
          0,
          "there is no room for the reply behind unreceived frames of the caller's bus");
      return;
    }
    byte[] start =
        BusCallFrames.returnStart(
            answered, member, queuedMicros, handledMicros, ended(answered), reply.frameBytes());
    send(start, reply);
  }

  @Override
  public void failure(
      long answered,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      Delivery failure) {
    ByteBuffer body = failure.frame();
    Failure said = ServiceFrames.failure(body, body.position(), body.limit());
    if (said.getExecuted() == executed) {
      int bytes = failure.frameBytes();
      send(BusCallFrames.failStart(answered, member, ended(answered), bytes), failure);
    } else {
      // An earlier member may have executed it.
      said.setExecuted(executed);
      fail(answered, member, said);
    }
  }

  @Override
  public void failure(
      long answered,
      long member,
      FailureCode code,
      Execution executed,
      long retryAfterMillis,
      String message) {
    fail(
        answered,
        member,
        new Failure(
            answered,
            code,
            message,
            executed,
            retryAfterMillis,
            member,
            "",
            NO_DETAILS.duplicate(),
            false));
  }

  private void fail(long answered, long member, Failure said) {
    byte[] failure = ControlFrames.encodeBody(said);
    byte[] start = BusCallFrames.failStart(answered, member, ended(answered), failure.length);
    byte[] frame = new byte[start.length + failure.length];
    System.arraycopy(start, 0, frame, 0, start.length);
    System.arraycopy(failure, 0, frame, start.length, failure.length);
    send(frame, null);
  }

  @Override
  public void sendBack(long back) {
    int grant = ended(back);
    send(PeerFrames.encode(PeerFrames.BUSY, back, grant), null);
  }

  @Override
  public String toString() {
    return "The stream of calls " + number + " of bus " + bus;
  }
}
