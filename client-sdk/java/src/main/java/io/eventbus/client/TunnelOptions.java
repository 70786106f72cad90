package io.eventbus.client;

import java.util.Objects;

/**
 * How a stream or tunnel is opened, and how much it may hold; immutable.
 *
 * @param request how a member is found; the time-out is for its answer, and nothing afterwards
 * @param windowBytes how much the other end may send before it is read, 4 KiB to 64 MiB; default
 *     256 KiB. It grows to {@code mostWindowBytes} while this end reads faster than it gets
 * @param mostWindowBytes the most that it grows to; default 4 MiB, which is what a bus takes
 * @param messageBytes the longest message that {@link Tunnel#messages} puts together, at least 1;
 *     default 16 MiB
 * @param bufferBytes how much may wait to be sent before {@link Tunnel#send} has to wait, at least
 *     1; default 256 KiB
 */
public record TunnelOptions(
    RequestOptions request,
    int windowBytes,
    int mostWindowBytes,
    int messageBytes,
    int bufferBytes) {
  /** What is said above. */
  public static final TunnelOptions DEFAULT =
      new TunnelOptions(RequestOptions.DEFAULT, 256 << 10, 4 << 20, 16 << 20, 256 << 10);

  /**
   * Checks the parts.
   *
   * @param request as above
   * @param windowBytes as above
   * @param mostWindowBytes as above
   * @param messageBytes as above
   * @param bufferBytes as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public TunnelOptions {
    Objects.requireNonNull(request, "request");
    Checks.range("windowBytes", windowBytes, 4 << 10, 64 << 20);
    Checks.range("mostWindowBytes", mostWindowBytes, windowBytes, 64 << 20);
    Checks.range("messageBytes", messageBytes, 1, Integer.MAX_VALUE);
    Checks.range("bufferBytes", bufferBytes, 1, Integer.MAX_VALUE);
  }

  /**
   * Changes how a member is found.
   *
   * @param newRequest the options
   * @return new options
   */
  public TunnelOptions withRequest(RequestOptions newRequest) {
    return new TunnelOptions(newRequest, windowBytes, mostWindowBytes, messageBytes, bufferBytes);
  }

  /**
   * Changes how much the other end may send before it is read.
   *
   * @param newWindowBytes at first
   * @param newMostWindowBytes at most
   * @return new options
   */
  public TunnelOptions withWindow(int newWindowBytes, int newMostWindowBytes) {
    return new TunnelOptions(
        request, newWindowBytes, newMostWindowBytes, messageBytes, bufferBytes);
  }

  /**
   * Changes the longest message that is put together.
   *
   * @param newMessageBytes at least 1
   * @return new options
   */
  public TunnelOptions withMessageBytes(int newMessageBytes) {
    return new TunnelOptions(request, windowBytes, mostWindowBytes, newMessageBytes, bufferBytes);
  }

  /**
   * Changes how much may wait to be sent.
   *
   * @param newBufferBytes at least 1
   * @return new options
   */
  public TunnelOptions withBufferBytes(int newBufferBytes) {
    return new TunnelOptions(request, windowBytes, mostWindowBytes, messageBytes, newBufferBytes);
  }
}
