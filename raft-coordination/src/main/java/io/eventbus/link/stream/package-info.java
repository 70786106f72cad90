/**
 * Reliable streams over links: frames in order, kept until they are acknowledged, and sent again
 * after a cut. {@link io.eventbus.link.stream.ReliableStream} is the end that sends, {@link
 * io.eventbus.link.stream.ReceivedFrames} the end that receives, and {@link
 * io.eventbus.link.stream.OpenedStream} opens the connections. What the frames mean is up to users.
 */
package io.eventbus.link.stream;
