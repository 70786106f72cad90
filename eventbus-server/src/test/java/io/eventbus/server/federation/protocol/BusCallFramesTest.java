package io.eventbus.server.federation.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Event;
import io.eventbus.server.federation.schema.Busy;
import io.eventbus.server.federation.schema.Call;
import io.eventbus.server.federation.schema.CallHello;
import io.eventbus.server.federation.schema.Demand;
import io.eventbus.server.federation.schema.Fail;
import io.eventbus.server.federation.schema.Grant;
import io.eventbus.server.federation.schema.Return;
import io.eventbus.server.federation.schema.Stop;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Frames of calls between buses, against the Avro library. */
class BusCallFramesTest {
  private static byte[] event() {
    return AvroBodies.encode(new Event(7L, "k", Map.of(), ByteBuffer.wrap(new byte[] {1, 2, 3})));
  }

  private static byte[] together(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static byte[] body(byte[] frame, int typeCode) {
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(frame), 0, frame.length);
    assertThat(cursor.next()).isTrue();
    assertThat(cursor.typeCode()).isEqualTo(typeCode);
    assertThat(cursor.bodyEnd()).isEqualTo(frame.length);
    return Arrays.copyOfRange(frame, cursor.bodyStart(), cursor.bodyEnd());
  }

  private static Call call(String service, int methodLength, byte[] body) {
    return new Call(
        1999,
        -5L,
        3,
        true,
        1,
        true,
        2,
        9L,
        8L,
        77L,
        "alice",
        "a1",
        123L,
        6L,
        service,
        methodLength,
        ByteBuffer.wrap(body));
  }

  @Test
  void call() {
    byte[] body = together("get".getBytes(UTF_8), event());
    byte[] head =
        BusCallFrames.callHead(
            -5,
            3,
            true,
            CallPriority.HIGH,
            true,
            2,
            9,
            8,
            77,
            "alice".getBytes(UTF_8),
            "a1",
            123,
            6,
            "orders",
            3);
    ByteBuffer start = ByteBuffer.allocate(BusCallFrames.callStartSize(1999, head, body.length));
    BusCallFrames.writeCallStart(start, 1999, head, body.length);
    assertThat(start.hasRemaining()).isFalse();
    byte[] read = body(together(start.array(), body), PeerFrames.CALL);
    assertThat(read).isEqualTo(AvroBodies.encode(call("orders", 3, body)));
    BusCallView view = new BusCallView();
    view.read(ByteBuffer.wrap(read), 0, read.length);
    assertThat(view.timeoutMillis).isEqualTo(1999);
    assertThat(view.call).isEqualTo(-5);
    assertThat(view.queued).isEqualTo(3);
    assertThat(view.returnable).isTrue();
    assertThat(view.priority).isEqualTo(CallPriority.HIGH);
    assertThat(view.idempotent).isTrue();
    assertThat(view.attempt).isEqualTo(2);
    assertThat(view.member).isEqualTo(9);
    assertThat(view.caller).isEqualTo(8);
    assertThat(view.request).isEqualTo(77);
    assertThat(view.identity).asString(UTF_8).isEqualTo("alice");
    assertThat(view.account).isEqualTo("a1");
    assertThat(view.receivedAt).isEqualTo(123);
    assertThat(view.schema).isEqualTo(6);
    assertThat(view.service).isEqualTo("orders");
    assertThat(view.methodLength).isEqualTo(3);
    assertThat(Arrays.copyOfRange(read, view.bodyStart, view.bodyStart + view.bodyLength))
        .isEqualTo(body);
  }

  private static void refused(Call call, String what) {
    byte[] body = AvroBodies.encode(call);
    assertThatThrownBy(() -> new BusCallView().read(ByteBuffer.wrap(body), 0, body.length))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessageContaining(what);
  }

  @Test
  void malformedCallsAreRefused() {
    refused(call("$x", 0, event()), "Call.service");
    refused(call("orders", 300, together(new byte[300], event())), "Call.methodLength");
    refused(call("orders", 1, together(new byte[] {-1}, event())), "Call.body");
    refused(call("orders", 0, together(event(), new byte[1])), "Call.body");
    refused(call("orders", 0, Arrays.copyOf(event(), 4)), "");
  }

  @Test
  void answers() {
    BusAnswerView view = new BusAnswerView();
    byte[] reply = together(new byte[] {4}, event());
    byte[] read =
        body(
            together(BusCallFrames.returnStart(-5, 9, 10, 20, 30, reply.length), reply),
            PeerFrames.RETURN);
    assertThat(read)
        .isEqualTo(AvroBodies.encode(new Return(-5L, 9L, 10, 20, 30, ByteBuffer.wrap(reply))));
    view.readReturn(ByteBuffer.wrap(read), 0, read.length);
    assertThat(view.call).isEqualTo(-5);
    assertThat(view.member).isEqualTo(9);
    assertThat(view.queuedMicros).isEqualTo(10);
    assertThat(view.handledMicros).isEqualTo(20);
    assertThat(view.grant).isEqualTo(30);
    assertThat(view.bodyLength).isEqualTo(reply.length);

    byte[] failure = {1, 2, 3};
    read =
        body(
            together(BusCallFrames.failStart(-6, 0, 31, failure.length), failure), PeerFrames.FAIL);
    assertThat(read).isEqualTo(AvroBodies.encode(new Fail(-6L, 0L, 31, ByteBuffer.wrap(failure))));
    view.readFail(ByteBuffer.wrap(read), 0, read.length);
    assertThat(view.call).isEqualTo(-6);
    assertThat(view.grant).isEqualTo(31);
    assertThat(view.bodyLength).isEqualTo(3);

    read = body(PeerFrames.encode(PeerFrames.BUSY, -7, 32), PeerFrames.BUSY);
    assertThat(read).isEqualTo(AvroBodies.encode(new Busy(-7L, 32)));
    view.readBusy(ByteBuffer.wrap(read), 0, read.length);
    assertThat(view.call).isEqualTo(-7);
    assertThat(view.grant).isEqualTo(32);

    byte[] greedy = AvroBodies.encode(new Busy(-7L, BusCallFrames.MAX_GRANT + 1));
    assertThatThrownBy(() -> view.readBusy(ByteBuffer.wrap(greedy), 0, greedy.length))
        .hasMessageContaining("Busy.grant");
    byte[] longer = AvroBodies.encode(new Return(1L, 1L, 1, 1, 1, ByteBuffer.wrap(new byte[30])));
    assertThatThrownBy(() -> view.readReturn(ByteBuffer.wrap(longer), 0, longer.length))
        .hasMessageContaining("Return.reply");
  }

  @Test
  void others() {
    CallHello hello = new CallHello(1, -2L, true, 3L);
    byte[] body = body(PeerFrames.encode(PeerFrames.CALL_HELLO, hello), PeerFrames.CALL_HELLO);
    assertThat(BusCallFrames.hello(ByteBuffer.wrap(body), 0, body.length)).isEqualTo(hello);
    Stop stop = new Stop(-2L, "why");
    body = body(PeerFrames.encode(PeerFrames.STOP, stop), PeerFrames.STOP);
    assertThat(BusCallFrames.stop(ByteBuffer.wrap(body), 0, body.length)).isEqualTo(stop);
    Grant grant = new Grant("orders", 4, "acme");
    body = body(PeerFrames.encode(PeerFrames.GRANT, grant), PeerFrames.GRANT);
    assertThat(BusCallFrames.grant(ByteBuffer.wrap(body), 0, body.length)).isEqualTo(grant);
    Demand demand = new Demand("orders", 5, "acme");
    body = body(PeerFrames.encode(PeerFrames.DEMAND, demand), PeerFrames.DEMAND);
    assertThat(BusCallFrames.demand(ByteBuffer.wrap(body), 0, body.length)).isEqualTo(demand);
  }
}
