package io.eventbus.server.federation.call;

import io.eventbus.protocol.BusCallFrames;
import io.eventbus.protocol.PeerFrames;
import io.eventbus.server.federation.lane.LaneFrameTable;

/**
 * Handlers of the numbered frames of a stream of calls: a line for each type, for each direction.
 * {@link PeerCallStream} and {@link InboundCallStream} handle other frames themselves.
 */
final class CallFrameHandlers {
  /** Frames of the bus that has opened a stream. */
  static final LaneFrameTable<InboundCallStream> OF_INTAKE =
      new LaneFrameTable<InboundCallStream>()
          .with(
              PeerFrames.CALL,
              (intake, in, from, to) -> {
                intake.onCall(in, from, to);
                return true;
              })
          .with(
              PeerFrames.STOP,
              (intake, in, from, to) -> {
                intake.onStop(BusCallFrames.stop(in, from, to));
                return true;
              })
          .with(
              PeerFrames.DEMAND,
              (intake, in, from, to) -> {
                intake.onDemand(BusCallFrames.demand(in, from, to));
                return true;
              });

  /** Frames of the bus that has accepted it. */
  static final LaneFrameTable<PeerReplies> OF_OPENER =
      new LaneFrameTable<PeerReplies>()
          .with(
              PeerFrames.RETURN,
              (answers, in, from, to) -> {
                answers.onReturn(in, from, to);
                return true;
              })
          .with(
              PeerFrames.FAIL,
              (answers, in, from, to) -> {
                answers.onFail(in, from, to);
                return true;
              })
          .with(
              PeerFrames.BUSY,
              (answers, in, from, to) -> {
                answers.onBusy(in, from, to);
                return true;
              })
          .with(
              PeerFrames.GRANT,
              (answers, in, from, to) -> {
                answers.onGrant(BusCallFrames.grant(in, from, to));
                return true;
              });

  private CallFrameHandlers() {}
}
