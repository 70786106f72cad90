/**
 * WebSocket by itself (RFC 6455 and RFC 7692): the request that asks for it and its answer, frames,
 * whole messages of many pieces, compression. It works on bytes and knows no connection.
 */
package io.eventbus.server.transport.websocket;
