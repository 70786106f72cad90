package io.eventbus.it;

import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.FrameCursor;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Problem;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * End of a connection, as its client saw it.
 *
 * @param code of the first Close frame, -1 for none
 * @param clean whether the stream ended in order, and was not reset
 */
record Ending(int code, String reason, int closeFrames, boolean clean, List<Problem> problems) {

  /** Reads all that comes to the end of the stream, and answers a Close. */
  static Ending of(RawClient client) throws IOException {
    return of(client, true);
  }

  /** Reads all that comes to the end of the stream. */
  static Ending of(RawClient client, boolean answerClose) throws IOException {
    List<Problem> problems = new ArrayList<>();
    int closes = 0;
    int code = -1;
    String reason = "";
    boolean clean = true;
    try {
      for (RawClient.WsFrame ws = client.readWs(); ws != null; ws = client.readWs()) {
        if (ws.opcode() == 8) {
          closes++;
          if (closes == 1) {
            code = client.closeCode;
            reason = client.closeReason;
            if (answerClose) {
              answer(client, ws.payload());
            }
          }
        } else if (ws.opcode() == 2) {
          collect(ws.payload(), problems);
        }
      }
    } catch (EOFException | SocketException e) {
      clean = false;
    }
    return new Ending(code, reason, closes, clean, problems);
  }

  private static void answer(RawClient client, byte[] payload) {
    try {
      client.sendFrame(0x88, payload);
    } catch (IOException e) {
      // The bus may have ended the stream already; its last frames can still be read.
      return;
    }
  }

  private static void collect(byte[] message, List<Problem> problems) {
    ByteBuffer in = ByteBuffer.wrap(message);
    FrameCursor frames = new FrameCursor().wrap(in, 0, message.length);
    while (frames.next()) {
      if (frames.typeCode() == TypeCode.PROBLEM.code()) {
        problems.add(ControlFrames.problem(in, frames.bodyStart(), frames.bodyEnd()));
      }
    }
  }
}
