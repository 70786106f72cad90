package io.eventbus.server.federation.lane;

import io.eventbus.link.stream.FrameTable;
import io.eventbus.server.federation.protocol.PeerFrames;

/**
 * Frames of lanes and their handlers: a line for each type of frame, for each direction. {@code
 * LaneHello} is absent: nothing comes before it, and it comes once.
 */
final class LaneFrameHandlers {
  /** Frames of the bus that has opened a lane. */
  static final FrameTable<LaneReceiver> FROM_OPENER =
      new FrameTable<LaneReceiver>()
          .with(PeerFrames.FORWARD, LaneReceiver::forward)
          .with(PeerFrames.INTEREST, LaneReceiver::interest)
          .always(
              PeerFrames.SYNC,
              (receiver, in, from, to) -> receiver.onSync(PeerFrames.number(in, from, to)));

  /** Frames of the bus that has accepted it. */
  static final FrameTable<Lane> FROM_ACCEPTOR =
      new FrameTable<Lane>()
          .always(
              PeerFrames.LANE_WELCOME,
              (lane, in, from, to) -> lane.onWelcome(PeerFrames.number(in, from, to)))
          .always(
              PeerFrames.LANE_ACK,
              (lane, in, from, to) -> lane.stream().acknowledge(PeerFrames.number(in, from, to)))
          .always(
              PeerFrames.LANE_ACK_RANGE,
              (lane, in, from, to) -> {
                long[] range = PeerFrames.numbers(in, from, to);
                lane.stream().acknowledge(range[0], range[1]);
              })
          .always(
              PeerFrames.INTEREST_APPLIED,
              (lane, in, from, to) -> lane.peer().onApplied(lane, PeerFrames.number(in, from, to)))
          .always(
              PeerFrames.INTEREST_WANTED,
              (lane, in, from, to) -> lane.peer().onInterestRequested(lane))
          .always(
              PeerFrames.SYNCED,
              (lane, in, from, to) -> lane.peer().onSynced(lane, PeerFrames.number(in, from, to)));

  private LaneFrameHandlers() {}
}
