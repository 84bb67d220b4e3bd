"""Reads event files with TensorBoard's own reader and prints what it found. usage: read_events.py FOLDER"""
import sys

try:
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.plugins.hparams import plugin_data_pb2
except ImportError:
    sys.exit(77)

folder = sys.argv[1]
events = event_accumulator.EventAccumulator(folder, {event_accumulator.HISTOGRAMS: 0, event_accumulator.TENSORS: 0})
events.Reload()
for tag in events.Tags()["scalars"]:
    print("scalar", tag, [(e.step, e.value) for e in events.Scalars(tag)])
for tag in events.Tags()["histograms"]:
    for e in events.Histograms(tag):
        h = e.histogram_value
        print("histogram", tag, h.min, h.max, h.num, h.sum, sum(h.bucket))
for tag in events.Tags()["images"]:
    for e in events.Images(tag):
        from struct import unpack
        print("image", tag, e.width, e.height, unpack(">II", e.encoded_image_string[16:24]))
for tag in events.Tags()["tensors"]:
    for e in events.Tensors(tag):
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        print("tensor", tag, plugin, e.tensor_proto.string_val[:1], list(e.tensor_proto.float_val)[:3],
              [d.size for d in e.tensor_proto.tensor_shape.dim])
if events.Tags()["graph"]:
    for node in events.Graph().node:
        print("node", node.name, node.op, list(node.input),
              [[d.size for d in s.dim] for s in node.attr["_output_shapes"].list.shape])
for tag, content in events.PluginTagToContent("hparams").items() if "hparams" in str(events.summary_metadata) else []:
    data = plugin_data_pb2.HParamsPluginData.FromString(content)
    print("hparams", tag, " ".join(str(data).split()))
