package io.eventbus.protocol;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.schema.CallPriority;
import io.eventbus.schema.Event;
import io.eventbus.schema.Execution;
import io.eventbus.schema.Failure;
import io.eventbus.schema.FailureCode;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.schema.Reply;
import io.eventbus.schema.Request;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CallFramesTest {
  private static final String EVENT = "00" + "00" + "00" + "0278";

  @Test
  void aRequestOfTheProtocolsPageIsWritten() {
    byte[] frame = ProtocolDocument.frame(TypeCode.REQUEST);
    Request request =
        (Request) Bodies.read(TypeCode.REQUEST, Bodies.bodyOf(TypeCode.REQUEST, frame));
    byte[] event = bytes(request.getEvent());
    CallFrames.RequestHead head =
        new CallFrames.RequestHead(
            request.getCall(),
            request.getService().getBytes(UTF_8),
            request.getMethod().getBytes(UTF_8),
            request.getScope(),
            CallPriority.NORMAL,
            request.getTimeoutMillis(),
            request.getWaitMillis(),
            request.getIdempotent(),
            request.getAttempt(),
            request.getMember(),
            request.getSchema$());
    ByteBuffer out = ByteBuffer.allocate(head.size(event.length));

    head.write(out, event.length);
    out.put(event);

    assertThat(out.array()).isEqualTo(frame);
  }

  @Test
  void anInvokeOfTheProtocolsPageIsWritten() {
    byte[] frame = ProtocolDocument.frame(TypeCode.INVOKE);
    Invoke invoke = (Invoke) Bodies.read(TypeCode.INVOKE, Bodies.bodyOf(TypeCode.INVOKE, frame));
    byte[] event = bytes(invoke.getEvent());
    byte[] identity = invoke.getIdentity().getBytes(UTF_8);
    byte[] method = invoke.getMethod().getBytes(UTF_8);
    int body =
        CallFrames.invokeBodySize(
            invoke.getCall(),
            invoke.getService(),
            method.length,
            invoke.getTimeoutMillis(),
            invoke.getCaller(),
            invoke.getRequest(),
            invoke.getAttempt(),
            identity,
            invoke.getReceivedAt(),
            invoke.getSchema$(),
            event.length);
    ByteBuffer out = ByteBuffer.allocate(CallFrames.invokeSize(body));

    CallFrames.writeInvokeStart(out, body, invoke.getCall(), invoke.getService(), method.length);
    out.put(method);
    CallFrames.writeInvokeRest(
        out,
        invoke.getTimeoutMillis(),
        invoke.getCaller(),
        invoke.getRequest(),
        invoke.getAttempt(),
        identity,
        invoke.getReceivedAt(),
        invoke.getSchema$());
    out.put(event);

    assertThat(out.array()).isEqualTo(frame);
  }

  @Test
  void aReplyOfTheProtocolsPageIsWritten() {
    byte[] frame = ProtocolDocument.frame(TypeCode.REPLY);
    Reply reply = (Reply) Bodies.read(TypeCode.REPLY, Bodies.bodyOf(TypeCode.REPLY, frame));
    byte[] event = bytes(reply.getEvent());
    int tail = CallFrames.replyTailSize(reply.getSchema$(), event.length);
    ByteBuffer out =
        ByteBuffer.allocate(
            CallFrames.replySize(
                reply.getCall(),
                reply.getMember(),
                reply.getQueuedMicros(),
                reply.getHandledMicros(),
                tail));

    CallFrames.writeReplyHead(
        out,
        reply.getCall(),
        reply.getMember(),
        reply.getQueuedMicros(),
        reply.getHandledMicros(),
        tail);
    CallFrames.writeReplySchema(out, reply.getSchema$());
    out.put(event);
    CallFrames.writeReplyEnd(out, reply.getMore());

    assertThat(out.array()).isEqualTo(frame);
  }

  private static byte[] bytes(Event event) {
    byte[] payload = new byte[event.getPayload().remaining()];
    event.getPayload().duplicate().get(payload);
    ByteBuffer out =
        ByteBuffer.allocate(Frames.eventSize(event.getPublishedAt(), -1, 1, payload.length));
    Frames.writeEvent(out, event.getPublishedAt(), null, EncodedHeaders.NONE, payload);
    return out.array();
  }

  @Test
  void symbolsThatThisVersionDoesNotKnowAreTold() {
    RequestView view = new RequestView();
    ByteBuffer body = hex("02" + "0273" + "00" + "06" + "04" + "06" + "0000000000" + "00" + EVENT);
    view.read(body, 0, body.limit(), FrameLimits.DEFAULT);
    assertThat(view.kind()).isNull();
    assertThat(view.scope()).isNull();
    assertThat(view.priority()).isNull();

    assertThat(Bodies.read(TypeCode.FAILURE, new byte[] {2, 126, 0, 126}))
        .isEqualTo(
            new Failure(
                1L,
                FailureCode.INTERNAL,
                "",
                Execution.UNKNOWN,
                0L,
                0L,
                "",
                ByteBuffer.allocate(0),
                false));
  }

  @Test
  void aRequestThatIsTooBigStillSaysWhichItIs() {
    RequestView view = new RequestView();
    ByteBuffer body = hex("0a" + "0273" + "00" + "000000" + "0000000000" + "00" + EVENT);
    FrameLimits none = new FrameLimits(1, 0, 0);
    view.read(body, 0, body.limit(), none);
    assertThat(view.call()).isEqualTo(5);

    ByteBuffer longer =
        hex("0e" + "0273" + "00" + "000000" + "0000000000" + "00" + "000000" + "047878");
    assertThatThrownBy(() -> view.read(longer, 0, longer.limit(), none))
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue());
    assertThat(view.call()).isEqualTo(7);
  }

  @Test
  void callsCountFromOne() {
    RequestView view = new RequestView();
    ByteBuffer body = hex("00" + "0273" + "00" + "000000" + "0000000000" + "00" + EVENT);
    assertThatThrownBy(() -> view.read(body, 0, body.limit(), FrameLimits.DEFAULT))
        .isInstanceOf(MalformedFrameException.class)
        .hasMessage("Request.call: 0 at byte 0 (expected: at least 1)");
  }

  @Test
  void aRegisterMayEndBehindTheService() {
    assertThat(Bodies.read(TypeCode.REGISTER, new byte[] {6, 2, 's'}))
        .isEqualTo(new Register(3L, "s", 16, false, "", Map.of(), Overflow.DROP_OLDEST));
  }

  @Test
  void concurrencyHasALimit() {
    // 65,537
    assertThatThrownBy(() -> Bodies.read(TypeCode.CAPACITY, bytes("06" + "828008")))
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isTrue())
        .hasMessageStartingWith("Capacity.concurrency: 65537 ");
    assertThatThrownBy(() -> Bodies.read(TypeCode.CAPACITY, bytes("06" + "01")))
        .isInstanceOfSatisfying(
            MalformedFrameException.class, e -> assertThat(e.isTooBig()).isFalse());
  }

  @Test
  void namesOfServices() {
    assertThat(ServiceName.problem("orders.v2")).isNull();
    assertThat(ServiceName.problem("s".repeat(240))).isNull();
    assertThat(ServiceName.problem("s" + ".s".repeat(13))).isNull();
    assertThat(ServiceName.problem("s" + ".s".repeat(14))).contains("expected: at most 14");
    assertThat(ServiceName.problem("s".repeat(241))).contains("expected: at most 240");
    assertThat(ServiceName.problem("ä".repeat(121))).contains("expected: at most 240");
    for (String wrong : new String[] {"", ".", "a..b", "a.", "$bus", "a.*", ">", "a b", "a\n"}) {
      assertThat(ServiceName.problem(wrong)).as(wrong).contains("expected");
    }
    assertThatThrownBy(() -> ServiceName.check("$SYS"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  private static ByteBuffer hex(String hex) {
    return ByteBuffer.wrap(bytes(hex));
  }
}
