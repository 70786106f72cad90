package io.eventbus.server.federation.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.link.LinkPeer;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.CallRequest;
import io.eventbus.server.call.CallerConnection;
import io.eventbus.server.call.CallerInfo;
import io.eventbus.server.call.CallerPort;
import io.eventbus.server.call.LoopCalls;
import io.eventbus.server.call.MemberConnection;
import io.eventbus.server.call.MemberInvocation;
import io.eventbus.server.call.MemberPort;
import io.eventbus.server.call.ServiceKey;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.delivery.Loops;
import io.eventbus.server.federation.TestBus;
import io.eventbus.server.federation.lane.Peer;
import io.eventbus.server.federation.protocol.BusAnswerView;
import io.eventbus.server.federation.protocol.BusCallFrames;
import io.eventbus.server.federation.protocol.BusCallView;
import io.eventbus.server.federation.protocol.PeerFrames;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Stop;
import io.eventbus.server.memory.BusMemory;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.samples.SampleCalls;
import io.eventbus.server.stats.CallStats;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Both ends of a stream of calls; the test plays the peer. */
class StreamsTest {
  private static final byte[] EVENT = {0, 0, 0, 2, 'x'};

  private final TestBus bus = new TestBus();
  private final BusMemory memory = new BusMemory(1 << 30);
  private final SampleCalls.FakePort port = new SampleCalls.FakePort();
  private final LoopCalls calls =
      SampleCalls.calls(
          new Loops() {
            @Override
            public int count() {
              return 1;
            }

            @Override
            public Executor executor(int loop) {
              return Runnable::run;
            }

            @Override
            public void handOver(int loop) {}
          },
          memory,
          new CallStats(),
          port);
  private final LoopStreams streams = new LoopStreams(bus.loop(0), calls);
  private final Caller caller = new Caller();
  private final List<EmbeddedChannel> channels = new ArrayList<>();

  StreamsTest() {
    bus.loop(0).with(streams);
  }

  @AfterEach
  void closeChannels() {
    bus.run();
    channels.forEach(EmbeddedChannel::finishAndReleaseAll);
  }

  private EmbeddedChannel opened(EmbeddedChannel channel) {
    channels.add(channel);
    return channel;
  }

  private record Read(int typeCode, ByteBuffer in, int from, int to) {}

  private static List<Read> read(EmbeddedChannel channel) {
    List<Read> all = new ArrayList<>();
    ByteBuf together = Unpooled.buffer();
    for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
      together.writeBytes(out);
      out.release();
    }
    ByteBuffer in = together.nioBuffer();
    FrameCursor cursor = new FrameCursor().wrap(in, 0, in.limit());
    while (cursor.next()) {
      all.add(new Read(cursor.typeCode(), in, cursor.bodyStart(), cursor.bodyEnd()));
    }
    return all;
  }

  private List<Integer> types(EmbeddedChannel channel) {
    bus.later();
    return read(channel).stream().map(Read::typeCode).toList();
  }

  /** Caller at this bus. */
  private final class Caller implements CallerPort {
    final List<String> ended = new ArrayList<>();
    final CallerConnection client =
        calls.caller(
            this,
            new CallerInfo(7, new byte[] {'a'}, "a user"),
            calls.share(ServiceShare.Address.UNBOUNDED));
    int timeoutMillis;
    private long last;

    long call(boolean idempotent) {
      CallRequest request = new CallRequest();
      request.service = ByteBuffer.wrap(new byte[] {'s'});
      request.serviceLength = 1;
      request.call = ++last;
      request.timeoutMillis = timeoutMillis;
      request.idempotent = idempotent;
      Delivery body = delivery(EVENT);
      request.body = body;
      client.begin(request);
      body.release();
      bus.run();
      return last;
    }

    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {
      ended.add(call + " by " + member);
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, Delivery why) {
      ended.add(call + " " + code + " " + executed);
    }

    @Override
    public void failure(
        long call, long by, FailureCode code, Execution executed, long retryAfter, String why) {
      ended.add(call + " " + code + " " + executed);
    }
  }

  /** Member at this bus. */
  private final class Member implements MemberPort {
    final List<Long> invoked = new ArrayList<>();
    final List<String> cancelled = new ArrayList<>();
    final MemberConnection client = calls.server(this, 5);

    Member() {
      client.register(1, "s", 2);
    }

    @Override
    public void invoke(MemberInvocation call) {
      invoked.add(call.call());
    }

    @Override
    public void cancel(long call, String reason) {
      cancelled.add(reason);
    }

    void reply() {
      Delivery reply = delivery(new byte[] {0, 0, 0, 0, 2, 'x'});
      client.reply(invoked.remove(0), 3, reply);
      reply.release();
      bus.run();
    }
  }

  private Delivery delivery(byte[] bytes) {
    return Delivery.of(
        UnpooledByteBufAllocator.DEFAULT, memory, DeliveryKind.CALL, bytes.clone(), 0);
  }

  private static void cut(EmbeddedChannel channel) {
    var unused = channel.close();
  }

  private static CallHello hello(Read first) {
    assertThat(first.typeCode()).isEqualTo(PeerFrames.CALL_HELLO);
    return BusCallFrames.hello(first.in(), first.from(), first.to());
  }

  private void in(EmbeddedChannel channel, byte[]... frames) {
    for (byte[] frame : frames) {
      channel.writeInbound(Unpooled.wrappedBuffer(frame));
    }
    bus.run();
  }

  private static byte[] welcome(long taken) {
    return PeerFrames.encode(PeerFrames.LANE_WELCOME, taken);
  }

  private static byte[] returned(long call, int grant) {
    byte[] reply = {0, 0, 0, 0, 2, 'x'};
    byte[] start = BusCallFrames.returnStart(call, 99, 1, 2, grant, reply.length);
    byte[] frame = java.util.Arrays.copyOf(start, start.length + reply.length);
    System.arraycopy(reply, 0, frame, start.length, reply.length);
    return frame;
  }

  private long numberOf(Read call) {
    assertThat(call.typeCode()).isEqualTo(PeerFrames.CALL);
    BusCallView view = new BusCallView();
    view.read(call.in(), call.from(), call.to());
    return view.call;
  }

  /** Lets a peer serve; returns its end of the stream, before it has said anything. */
  private EmbeddedChannel serve(String id, long instance) {
    Peer peer = bus.peer(id, 2);
    streams.serves(peer, new ServiceKey("", "s"), true, false);
    bus.run();
    return reconnect(id, instance);
  }

  /** Returns the next stream that is opened; lanes are skipped. */
  private EmbeddedChannel reconnect(String id, long instance) {
    return opened(opening().answer(id, instance));
  }

  private TestBus.Opening opening() {
    for (int i = 0; i < 100; i++) {
      while (bus.isOpening()) {
        TestBus.Opening opening = bus.opening();
        if (opening.channel().startsWith(PeerServices.KIND)) {
          return opening;
        }
      }
      bus.pass(Duration.ofMillis(50));
    }
    throw new AssertionError("no stream is opened");
  }

  @Test
  void resendsUnreceivedFramesAfterACut() {
    EmbeddedChannel first = serve("b", 1);
    CallHello before = hello(read(first).get(0));
    assertThat(before.getBegins()).isTrue();
    in(first, welcome(0));
    caller.call(false);
    caller.call(false);
    bus.run();
    List<Read> sent = read(first);
    assertThat(sent).hasSize(2);
    long call = numberOf(sent.get(0));
    cut(first);
    EmbeddedChannel second = reconnect("b", 1);
    CallHello after = hello(read(second).get(0));
    assertThat(after.getSession()).isEqualTo(before.getSession());
    assertThat(after.getBegins()).isFalse();
    in(second, welcome(1));
    List<Read> again = read(second);
    assertThat(again).hasSize(1);
    assertThat(numberOf(again.get(0))).isEqualTo(numberOf(sent.get(1))).isNotEqualTo(call);
    in(second, returned(call, 8), returned(numberOf(again.get(0)), 8));
    assertThat(caller.ended).containsExactly("1 by 99", "2 by 99");
    assertThat(types(second)).containsExactly(PeerFrames.LANE_ACK);
    in(second, PeerFrames.encode(PeerFrames.LANE_ACK, 2));
    assertThat(memory.used()).isZero();
  }

  @Test
  void aBusThatDoesNotKnowItsCallsHasLostThem() {
    EmbeddedChannel first = serve("b", 1);
    long session = hello(read(first).get(0)).getSession();
    in(first, welcome(0));
    caller.call(false);
    caller.call(true);
    bus.run();
    assertThat(read(first)).hasSize(2);
    cut(first);
    EmbeddedChannel second = reconnect("b", 2);
    read(second);
    in(second, welcome(-1));
    assertThat(caller.ended).containsExactly("1 MEMBER_LOST UNKNOWN");
    assertThat(second.isOpen()).isFalse();
    EmbeddedChannel third = reconnect("b", 2);
    CallHello fresh = hello(read(third).get(0));
    assertThat(fresh.getBegins()).isTrue();
    assertThat(fresh.getSession()).isNotEqualTo(session);
    in(third, welcome(0));
    long repeated = numberOf(read(third).get(0));
    in(third, returned(repeated, 4));
    assertThat(caller.ended).containsExactly("1 MEMBER_LOST UNKNOWN", "2 by 99");
  }

  @Test
  void callsStayDispatchableWhileAPeerIsUnreachable() {
    EmbeddedChannel b = serve("b", 1);
    // Never welcomed, and the only one.
    caller.call(false);
    long cancelled = caller.call(false);
    caller.client.cancel(cancelled, "no longer");
    assertThat(caller.ended).containsExactly("2 CANCELLED NO");
    Member member = new Member();
    bus.run();
    assertThat(member.invoked).hasSize(1);
    member.reply();
    assertThat(caller.ended).containsExactly("2 CANCELLED NO", "1 by 5");
    member.client.close(0);
    caller.call(false);
    read(b);
    in(b, welcome(0));
    long call = numberOf(read(b).get(0));
    in(b, returned(call, 4));
    assertThat(caller.ended).containsExactly("2 CANCELLED NO", "1 by 5", "3 by 99");
  }

  @Test
  void callsForABusThatCannotBeReachedDoNotWaitTooLong() {
    EmbeddedChannel b = serve("b", 1);
    read(b);
    for (int i = 0; i < 5; i++) {
      caller.call(false);
      port.pass(2_000_000_000L);
    }
    in(b, welcome(0));
    caller.call(false);
    bus.run();
    assertThat(read(b))
        .filteredOn(frame -> frame.typeCode() == PeerFrames.CALL)
        .as("as many as a bus begins with")
        .hasSize(4);
    assertThat(caller.ended).isEmpty();
    port.pass(1_000_000_001);
    caller.call(false);
    assertThat(caller.ended).containsExactly("7 OVERLOADED NO");
  }

  @Test
  void redispatchesUnsentCallsAfterALostConnection() {
    EmbeddedChannel b = serve("b", 1);
    in(b, welcome(0));
    caller.call(false);
    bus.run();
    read(b);
    setWritable(b, false);
    caller.call(false);
    caller.call(false);
    bus.run();
    assertThat(read(b)).isEmpty();
    cut(b);
    Member member = new Member();
    bus.run();
    assertThat(member.invoked).hasSize(2);
    EmbeddedChannel again = reconnect("b", 1);
    read(again);
    in(again, welcome(0));
    assertThat(read(again)).as("the one that was sent").hasSize(1);
  }

  @Test
  void sendsUnsentCallsInOrder() {
    EmbeddedChannel b = serve("b", 1);
    in(b, welcome(0));
    read(b);
    setWritable(b, false);
    for (int i = 0; i < 4; i++) {
      caller.call(false);
    }
    cut(b);
    EmbeddedChannel again = reconnect("b", 1);
    read(again);
    in(again, welcome(0));
    // All four have places there.
    List<Long> requests = new ArrayList<>();
    for (Read call : read(again)) {
      if (call.typeCode() == PeerFrames.CALL) {
        BusCallView view = new BusCallView();
        view.read(call.in(), call.from(), call.to());
        requests.add(view.request);
      }
    }
    assertThat(requests).containsExactly(1L, 2L, 3L, 4L);
  }

  private static void setWritable(EmbeddedChannel channel, boolean writable) {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, writable);
    channel.runPendingTasks();
  }

  @Test
  void doesNotSendATimedOutCall() {
    EmbeddedChannel b = serve("b", 1);
    in(b, welcome(0));
    read(b);
    setWritable(b, false);
    caller.timeoutMillis = 100;
    caller.call(false);
    bus.pass(Duration.ofMillis(200));
    port.pass(100_000_000);
    assertThat(caller.ended).containsExactly("1 TIMEOUT UNKNOWN");
    setWritable(b, true);
    bus.run();
    assertThat(types(b)).doesNotContain(PeerFrames.CALL);
    assertThat(memory.used()).isZero();
  }

  @Test
  void aBusAtWhoseAddressNobodyListensHasLostItsCalls() {
    EmbeddedChannel b = serve("b", 1);
    in(b, welcome(0));
    caller.call(false);
    caller.call(true);
    bus.run();
    cut(b);
    opening().fail(new ConnectTimeoutException("connection timed out"));
    bus.run();
    assertThat(caller.ended).isEmpty();
    Exception refusal = new CompletionException(new ConnectException("Connection refused: b"));
    opening().fail(refusal);
    bus.run();
    assertThat(caller.ended).as("it may just start again").isEmpty();
    opening().fail(new ConnectTimeoutException("connection timed out"));
    opening().fail(refusal);
    bus.run();
    assertThat(caller.ended).as("not twice in a row").isEmpty();
    opening().fail(refusal);
    bus.run();
    assertThat(caller.ended).containsExactly("1 MEMBER_LOST UNKNOWN");
    EmbeddedChannel again = reconnect("b", 2);
    assertThat(hello(read(again).get(0)).getBegins()).isTrue();
    in(again, welcome(0));
    in(again, returned(numberOf(read(again).get(0)), 4));
    assertThat(caller.ended).containsExactly("1 MEMBER_LOST UNKNOWN", "2 by 99");
  }

  @Test
  void aBusThatIsDrainedGetsNothingWhileOthersServe() {
    EmbeddedChannel b = serve("b", 1);
    in(b, welcome(0));
    EmbeddedChannel c = serve("c", 1);
    in(c, welcome(0));
    read(b);
    read(c);
    streams.draining(bus.peer("b", 2), true);
    for (int i = 0; i < 3; i++) {
      caller.call(false);
    }
    bus.run();
    assertThat(read(b)).isEmpty();
    assertThat(read(c)).hasSize(3);
    streams.serves(bus.peer("c", 2), new ServiceKey("", "s"), false, false);
    caller.call(false);
    bus.run();
    assertThat(read(b)).as("the only one").hasSize(1);
  }

  private EmbeddedChannel accept(CallHello hello) {
    EmbeddedChannel channel =
        opened(new EmbeddedChannel(streams.receiver(new LinkPeer("", "", "b", 1, "call.0"))));
    in(channel, PeerFrames.encode(PeerFrames.CALL_HELLO, hello));
    return channel;
  }

  private static long welcomed(EmbeddedChannel channel) {
    Read first = read(channel).get(0);
    assertThat(first.typeCode()).isEqualTo(PeerFrames.LANE_WELCOME);
    return PeerFrames.number(first.in(), first.from(), first.to());
  }

  private static byte[] callFrame(long number) {
    byte[] head =
        BusCallFrames.callHead(
            number,
            0,
            false,
            CallPriority.NORMAL,
            false,
            0,
            0,
            8,
            1,
            new byte[0],
            "",
            0,
            0,
            "s",
            0);
    ByteBuffer start = ByteBuffer.allocate(BusCallFrames.callStartSize(1000, head, EVENT.length));
    BusCallFrames.writeCallStart(start, 1000, head, EVENT.length);
    byte[] frame = java.util.Arrays.copyOf(start.array(), start.capacity() + EVENT.length);
    System.arraycopy(EVENT, 0, frame, start.capacity(), EVENT.length);
    return frame;
  }

  private static @Nullable Long answered(EmbeddedChannel channel) {
    for (Read frame : read(channel)) {
      if (frame.typeCode() == PeerFrames.RETURN) {
        BusAnswerView view = new BusAnswerView();
        view.readReturn(frame.in(), frame.from(), frame.to());
        assertThat(view.grant).isPositive();
        return view.call;
      }
    }
    return null;
  }

  @Test
  void answersComeAgainAndCallsAreExecutedOnce() {
    Member member = new Member();
    EmbeddedChannel first = accept(new CallHello(0, 11L, true, 0L));
    assertThat(welcomed(first)).isZero();
    in(first, callFrame(-1), callFrame(-2));
    assertThat(member.invoked).hasSize(2);
    cut(first);
    member.reply();
    EmbeddedChannel second = accept(new CallHello(0, 11L, false, 0L));
    assertThat(answered(second)).isEqualTo(-1);
    cut(second);
    EmbeddedChannel third = accept(new CallHello(0, 11L, false, 0L));
    List<Read> said = read(third);
    // So the peer sends neither of the two again.
    assertThat(PeerFrames.number(said.get(0).in(), said.get(0).from(), said.get(0).to()))
        .isEqualTo(2);
    assertThat(said.get(1).typeCode()).as("not acknowledged").isEqualTo(PeerFrames.RETURN);
    member.reply();
    assertThat(answered(third)).isEqualTo(-2);
    in(third, PeerFrames.encode(PeerFrames.LANE_ACK, 2));
    assertThat(memory.used()).isZero();
  }

  @Test
  void anotherProcessFreesTheCallsOfTheOneBefore() {
    Member member = new Member();
    EmbeddedChannel first = accept(new CallHello(0, 11L, true, 0L));
    in(first, callFrame(-1));
    EmbeddedChannel second = accept(new CallHello(0, 12L, true, 0L));
    assertThat(first.isOpen()).isFalse();
    assertThat(welcomed(second)).isZero();
    assertThat(member.cancelled).hasSize(1);
    assertThat(welcomed(accept(new CallHello(0, 13L, false, 5L)))).isEqualTo(-1);
  }

  @Test
  void aBusThatDoesNotComeBackIsGivenUp() {
    Member member = new Member();
    EmbeddedChannel first = accept(new CallHello(0, 11L, true, 0L));
    in(first, callFrame(-1));
    cut(first);
    bus.pass(bus.config().peerTimeout().plusSeconds(2));
    assertThat(member.cancelled).hasSize(1);
    assertThat(welcomed(accept(new CallHello(0, 11L, false, 0L)))).isEqualTo(-1);
  }

  @Test
  void aCallCanBeStoppedAndPlacesAskedFor() {
    Member member = new Member();
    EmbeddedChannel channel = accept(new CallHello(0, 11L, true, 0L));
    in(channel, callFrame(-1));
    in(channel, PeerFrames.encode(PeerFrames.STOP, new Stop(-1L, "no longer")));
    assertThat(member.cancelled).containsExactly("no longer");
    in(channel, PeerFrames.encode(PeerFrames.DEMAND, new Demand("s", 9, "")));
    in(channel, PeerFrames.encode(PeerFrames.DEMAND, new Demand("nobody", 9, "")));
    assertThat(types(channel))
        .contains(PeerFrames.FAIL, PeerFrames.GRANT)
        .doesNotContain(PeerFrames.RETURN);
  }

  /** Returns the loop's memory in unreleased buffers. */
  private long pinned() {
    return ((PooledByteBufAllocator) bus.loop(0).allocator()).pinnedDirectMemory();
  }

  @Test
  void anEndKeepsNoBodiesOfCallsFromOthers() {
    long before = pinned();
    Member member = new Member();
    EmbeddedChannel channel = accept(new CallHello(0, 11L, true, 0L));
    in(channel, callFrame(-1), callFrame(-2));
    member.reply();
    bus.close();
    // A reply under way when the bus starts to end.
    member.reply();
    assertThat(pinned()).isEqualTo(before);
    assertThat(memory.used()).isZero();
  }

  @Test
  void anEndKeepsNoBodiesOfAnswersFromOthers() {
    long before = pinned();
    EmbeddedChannel channel = serve("b", 1);
    in(channel, welcome(0));
    caller.call(false);
    bus.run();
    long call = numberOf(read(channel).get(1));
    in(channel, returned(call, 8));
    assertThat(caller.ended).hasSize(1);
    bus.close();
    assertThat(pinned()).isEqualTo(before);
  }
}
