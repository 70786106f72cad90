/**
 * The system's etcd, spoken to by gRPC. The few messages are put together here: the usual Java
 * client would bring a second event framework along.
 */
package io.eventbus.loadtest.coordination.etcd;
