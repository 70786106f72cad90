/**
 * The system's etcd, spoken to by gRPC. The few messages are put together here: the usual Java
 * client brings a second event framework along, and is slower than this.
 */
package io.eventbus.loadtest.coordination.etcd;
