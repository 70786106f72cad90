package io.eventbus.server.federation.lane;

import io.eventbus.server.federation.protocol.PeerFrames;
import java.nio.ByteBuffer;

/**
 * Frames of lanes and their handlers: a line for each type of frame, for each direction. {@code
 * LaneHello} is absent: nothing comes before it, and it comes once.
 */
final class LaneFrameHandlers {
  /** Frames of the bus that has opened a lane. */
  static final LaneFrameTable<LaneReceiver> OF_RECEIVER =
      new LaneFrameTable<LaneReceiver>()
          .with(PeerFrames.FORWARD, LaneReceiver::forward)
          .with(PeerFrames.INTEREST, LaneReceiver::interest)
          .with(
              PeerFrames.SYNC,
              (receiver, in, from, to) -> {
                receiver.onSync(PeerFrames.number(in, from, to));
                return true;
              })
          .with(PeerFrames.ALIVE, LaneFrameHandlers::ignoreKeepalive)
          .with(
              PeerFrames.GOODBYE,
              (receiver, in, from, to) -> {
                receiver.onGoodbye();
                return true;
              });

  /** Frames of the bus that has accepted it. */
  static final LaneFrameTable<LaneSender> OF_SENDER =
      new LaneFrameTable<LaneSender>()
          .with(
              PeerFrames.LANE_WELCOME,
              (sender, in, from, to) -> {
                sender.lane().onWelcome(sender, PeerFrames.number(in, from, to));
                return true;
              })
          .with(
              PeerFrames.LANE_ACK,
              (sender, in, from, to) -> {
                sender.lane().onAck(PeerFrames.number(in, from, to));
                return true;
              })
          .with(
              PeerFrames.LANE_ACK_RANGE,
              (sender, in, from, to) -> {
                long[] range = PeerFrames.numbers(in, from, to);
                sender.lane().onAckRange(range[0], range[1]);
                return true;
              })
          .with(
              PeerFrames.INTEREST_APPLIED,
              (sender, in, from, to) -> {
                Lane lane = sender.lane();
                lane.peer().onApplied(lane, PeerFrames.number(in, from, to));
                return true;
              })
          .with(
              PeerFrames.INTEREST_WANTED,
              (sender, in, from, to) -> {
                Lane lane = sender.lane();
                lane.peer().onInterestRequested(lane, sender);
                return true;
              })
          .with(
              PeerFrames.SYNCED,
              (sender, in, from, to) -> {
                Lane lane = sender.lane();
                lane.peer().onSynced(lane, PeerFrames.number(in, from, to));
                return true;
              })
          .with(PeerFrames.ALIVE, LaneFrameHandlers::ignoreKeepalive)
          .with(
              PeerFrames.GOODBYE,
              (sender, in, from, to) -> {
                sender.onGoodbye();
                return true;
              });

  private LaneFrameHandlers() {}

  /** Ignores a frame whose only meaning is that the other end is alive. */
  private static boolean ignoreKeepalive(LaneDecoder end, ByteBuffer in, int from, int to) {
    return true;
  }
}
