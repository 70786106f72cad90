package io.eventbus.server.federation.call;

import io.eventbus.protocol.BusCallFrames;
import io.eventbus.protocol.PeerFrames;
import io.eventbus.server.federation.lane.LaneFrameTable;

/**
 * The numbered frames of a stream of calls, and what is done with them: a line for each type, for
 * each of the two directions. What else comes is looked at by {@link PeerCallStream} and {@link
 * InboundCallStream} themselves.
 */
final class CallFrameHandlers {
  /** What the bus that has opened a stream sends. */
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

  /** What comes back to it. */
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
