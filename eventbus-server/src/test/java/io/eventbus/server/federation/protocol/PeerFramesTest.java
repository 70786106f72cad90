package io.eventbus.server.federation.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.MalformedFrameException;
import io.eventbus.server.federation.schema.AccountEntry;
import io.eventbus.server.federation.schema.AccountForward;
import io.eventbus.server.federation.schema.Forward;
import io.eventbus.server.federation.schema.Interest;
import io.eventbus.server.federation.schema.InterestEntry;
import io.eventbus.server.federation.schema.LaneAck;
import io.eventbus.server.federation.schema.LaneHello;
import io.eventbus.server.federation.schema.Pick;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Frames between buses, against the Avro library, in both directions. */
class PeerFramesTest {
  private static final byte[] DELIVER = {8, 4, 1, 2};

  private static FrameCursor only(byte[] frame, int typeCode) {
    FrameCursor cursor = new FrameCursor().wrap(ByteBuffer.wrap(frame), 0, frame.length);
    assertThat(cursor.next()).isTrue();
    assertThat(cursor.typeCode()).isEqualTo(typeCode);
    assertThat(cursor.bodyEnd()).isEqualTo(frame.length);
    return cursor;
  }

  private static byte[] body(byte[] frame, FrameCursor cursor) {
    return Arrays.copyOfRange(frame, cursor.bodyStart(), cursor.bodyEnd());
  }

  private static byte[] forward(byte[] head) {
    return forward(head, new byte[0]);
  }

  private static byte[] forward(byte[] head, byte[] tail) {
    ByteBuffer out =
        ByteBuffer.allocate(
            PeerFrames.forwardHeadSize(head, DELIVER.length, tail.length)
                + DELIVER.length
                + tail.length);
    PeerFrames.writeForwardHead(out, head, DELIVER.length, tail.length);
    out.put(DELIVER).put(tail);
    assertThat(out.hasRemaining()).isFalse();
    return out.array();
  }

  /** Returns the bytes without the last field, which is left out where it is null. */
  private static byte[] withoutAccount(Forward forward) {
    byte[] whole = AvroBodies.encode(forward);
    return Arrays.copyOf(whole, whole.length - 1);
  }

  @Test
  void forwardToOneBus() {
    byte[] frame =
        forward(PeerFrames.forwardHead(1, true, List.of(), new int[0], new int[0], List.of()));
    FrameCursor cursor = only(frame, PeerFrames.FORWARD);
    assertThat(body(frame, cursor))
        .isEqualTo(
            withoutAccount(
                new Forward(
                    1, true, List.of(), List.of(), List.of(), ByteBuffer.wrap(DELIVER), null)));
    ForwardView view = new ForwardView();
    view.read(ByteBuffer.wrap(frame), cursor.bodyStart(), cursor.bodyEnd());
    assertThat(view.hops()).isEqualTo(1);
    assertThat(view.plain()).isTrue();
    assertThat(view.groups()).isEmpty();
    assertThat(view.targetCount()).isZero();
    assertThat(view.deliverEnd() - view.deliverStart()).isEqualTo(DELIVER.length);
    assertThat(view.deliverEnd()).isEqualTo(frame.length);
  }

  @Test
  void forwardToBusesBehindAndToGroups() {
    byte[] frame =
        forward(
            PeerFrames.forwardHead(
                3,
                false,
                List.of("g", "größe"),
                new int[] {7, 1_000_000},
                new int[] {7, 7},
                List.of("g", "h")));
    FrameCursor cursor = only(frame, PeerFrames.FORWARD);
    assertThat(body(frame, cursor))
        .isEqualTo(
            withoutAccount(
                new Forward(
                    3,
                    false,
                    List.of("g", "größe"),
                    List.of(7, 1_000_000),
                    List.of(new Pick(7, "g"), new Pick(7, "h")),
                    ByteBuffer.wrap(DELIVER),
                    null)));
    ForwardView view = new ForwardView();
    view.read(ByteBuffer.wrap(frame), cursor.bodyStart(), cursor.bodyEnd());
    assertThat(view.plain()).isFalse();
    assertThat(view.groups()).containsExactly("g", "größe");
    assertThat(view.targets()).containsExactly(7, 1_000_000);
    assertThat(view.pickGroups()).containsExactly("g", "h");
    assertThat(view.pickBus(1)).isEqualTo(7);
  }

  @Test
  void forwardOfAnAccount() {
    byte[] tail =
        PeerFrames.accountForwardTail(
            "größe", true, List.of("g"), new int[] {7}, new int[] {7}, List.of("h"));
    byte[] frame = forward(PeerFrames.accountForwardHead(2), tail);
    FrameCursor cursor = only(frame, PeerFrames.FORWARD);
    assertThat(body(frame, cursor))
        .isEqualTo(
            AvroBodies.encode(
                new Forward(
                    2,
                    false,
                    List.of(),
                    List.of(),
                    List.of(),
                    ByteBuffer.wrap(DELIVER),
                    new AccountForward(
                        "größe", true, List.of("g"), List.of(7), List.of(new Pick(7, "h"))))));
    ForwardView view = new ForwardView();
    view.read(ByteBuffer.wrap(frame), cursor.bodyStart(), cursor.bodyEnd());
    assertThat(view.account()).isEqualTo("größe");
    assertThat(view.hops()).isEqualTo(2);
    assertThat(view.plain()).isTrue();
    assertThat(view.groups()).containsExactly("g");
    assertThat(view.targets()).containsExactly(7);
    assertThat(view.pickGroups()).containsExactly("h");
    assertThat(view.deliverEnd() - view.deliverStart()).isEqualTo(DELIVER.length);
    int older = frame.length - tail.length;
    for (int end = older + 1; end < frame.length; end++) {
      int to = end;
      assertThatThrownBy(() -> view.read(ByteBuffer.wrap(frame), cursor.bodyStart(), to))
          .isInstanceOf(MalformedFrameException.class);
    }
    view.read(ByteBuffer.wrap(frame), cursor.bodyStart(), older);
    assertThat(view.account()).as("nothing is left of the one before").isEmpty();
  }

  @Test
  void aForwardThatIsCutOffIsRefused() {
    byte[] frame =
        forward(
            PeerFrames.forwardHead(
                1, true, List.of("g"), new int[] {3}, new int[] {3}, List.of("h")));
    FrameCursor cursor = only(frame, PeerFrames.FORWARD);
    for (int end = cursor.bodyStart(); end < cursor.bodyEnd(); end++) {
      int to = end;
      assertThatThrownBy(
              () -> new ForwardView().read(ByteBuffer.wrap(frame), cursor.bodyStart(), to))
          .isInstanceOf(MalformedFrameException.class);
    }
  }

  @Test
  void controlFrames() {
    byte[] hello = PeerFrames.encode(PeerFrames.LANE_HELLO, new LaneHello(1, 2, 3, 4L));
    FrameCursor cursor = only(hello, PeerFrames.LANE_HELLO);
    assertThat(PeerFrames.laneHello(ByteBuffer.wrap(hello), cursor.bodyStart(), cursor.bodyEnd()))
        .isEqualTo(new LaneHello(1, 2, 3, 4L));
    byte[] ack = PeerFrames.encode(PeerFrames.LANE_ACK, Long.MAX_VALUE);
    cursor = only(ack, PeerFrames.LANE_ACK);
    assertThat(body(ack, cursor)).isEqualTo(AvroBodies.encode(new LaneAck(Long.MAX_VALUE)));
    assertThat(PeerFrames.number(ByteBuffer.wrap(ack), cursor.bodyStart(), cursor.bodyEnd()))
        .isEqualTo(Long.MAX_VALUE);
    only(PeerFrames.encode(PeerFrames.ALIVE), PeerFrames.ALIVE);
  }

  @Test
  void interest() {
    Interest said =
        new Interest(
            9L,
            true,
            false,
            -77L,
            List.of(new InterestEntry("a.>", null, 0), new InterestEntry("b", "g", -1)),
            List.of(
                new AccountEntry("acme", "a.>", null, 0), new AccountEntry("größe", "b", "g", -1)),
            78L);
    byte[] frame = PeerFrames.encode(PeerFrames.INTEREST, said);
    FrameCursor cursor = only(frame, PeerFrames.INTEREST);
    ByteBuffer in = ByteBuffer.wrap(frame);
    assertThat(PeerFrames.interest(in, cursor.bodyStart(), cursor.bodyEnd())).isEqualTo(said);
    // A bus that does not know accounts ends it there.
    Interest ofOne =
        new Interest(
            said.getVersion(),
            said.getWhole(),
            said.getMore(),
            said.getDigest(),
            said.getEntries(),
            List.of(),
            0L);
    // The empty array and the 0.
    int older = cursor.bodyStart() + AvroBodies.encode(ofOne).length - 2;
    for (int end = cursor.bodyStart(); end < cursor.bodyEnd(); end++) {
      int to = end;
      if (end != older) {
        assertThatThrownBy(() -> PeerFrames.interest(in, cursor.bodyStart(), to))
            .isInstanceOf(MalformedFrameException.class);
      }
    }
    Interest withoutAccounts = PeerFrames.interest(in, cursor.bodyStart(), older);
    assertThat(withoutAccounts.getEntries()).isEqualTo(said.getEntries());
    assertThat(withoutAccounts.getAccountEntries()).isEmpty();
    assertThat(withoutAccounts.getAccountDigest()).isZero();
  }
}
