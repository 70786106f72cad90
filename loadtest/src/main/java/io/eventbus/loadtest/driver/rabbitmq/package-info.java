/** RabbitMQ: the server of the system's package, with a quorum queue, and its own Java client. */
package io.eventbus.loadtest.driver.rabbitmq;
