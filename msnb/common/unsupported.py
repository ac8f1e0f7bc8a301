"""Tables of the names of MindSpore that msnb does not support. Each reason, with advice, has a list of names.

Names in `USED_BY_FEW_LINES` are imported by programs that can run without them on one device. They exist, and raise an
error when they are used. Names in `ABSENT` do not exist: a program that tests for such a name takes its alternative.
"""

_SEVERAL = (
    "{name} spreads a network in a way that msnb does not; parallel_mode and Primitive.shard are there, leave it out"
)
_CHECKPOINTS = (
    "{name} cuts or joins checkpoints of parts; a checkpoint that msnb writes is whole, load_checkpoint and "
    "load_param_into_net read it, and load_distributed_checkpoint joins MindSpore's"
)
_COMPILER = "{name} belongs to MindSpore's compiler; XLA compiles every program whole, leave it out"
REWRITES = "{name} rewrites MindSpore's source trees; change a Cell's attributes, or derive a class from it"
_THOR = "{name} belongs to the optimizer THOR; use nn.Momentum, nn.Adam or nn.Lamb"
_MEMORY = "{name} manages MindSpore's memory; JAX does so by itself, leave it out"
_COUNTS = (
    "{name} counts floating point operations; msnb.Profiler measures, and program.compiled().cost_analysis() counts"
)
_STEPS = "{name} marks steps for Ascend's profiler; mindspore.profiler.profile(...) has step()"
_PROTOBUF = "{name} is a class that protobuf makes; load(...) reads a MINDIR file, and msnb.view draws what is in it"
_EXPERIENCE = "{name} keeps experience within a kernel; a list of arrays in Python keeps it, and numpy draws from it"
_ENVIRONMENT = "{name} runs an environment in C++; one in Python is called between two steps"
_FEW_BITS = (
    "{name} is a kernel of Ascend's for numbers of few bits; ops.matmul of what they stand for computes the same"
)
_LIMITS = "{name} limits the cores of an Ascend; XLA distributes the work, leave it out"
_SAVED = "{name} stores what a gradient reads in another form; Cell.recompute() computes it again and stores nothing"
_SECRETS = "{name} obfuscates checkpoints; save_checkpoint(..., enc_key=...) encrypts them"

_BETWEEN_TWO = (
    "all devices run one program here, in which none waits for another alone; nn.PipelineCell hands on from stage to "
    "stage, and ops.AlltoAll exchanges parts"
)

# Reason -> module below mindspore -> names.
USED_BY_FEW_LINES: dict[str, dict[str, str]] = {
    _BETWEEN_TWO: {
        "communication.comm_func": "P2POp all_to_all_single_with_output_shape all_to_all_v_c "
        "all_to_all_with_output_shape batch_isend_irecv irecv isend recv send",
        "ops": "Receive Send",
        "ops.communication": "set_comm_ops_inplace",
    },
    "{name} is a class above Cell in MindSpore's C++; derive from mindspore.nn.Cell": {"_c_expression": "Cell_"},
    "{name} frees memory; mindspore.runtime.empty_cache is there": {"_c_expression": "_ms_memory_recycle"},
    "{name} moves blocks of a cache of keys and values; indexing a Tensor and ops.move_to do so": {
        "_c_expression": "swap_cache",
    },
    "{name} reads or writes strategies of a compiled network; parameter_layout_dict and msnb.plan show them": {
        "parallel.strategy": "clear_strategy_metadata enable_save_strategy_online get_current_strategy_metadata "
        "get_strategy_metadata",
        "train.node_strategy_pb2": "ParallelGroupMap ParallelLayouts ParallelStrategyItem ParallelStrategyMap "
        "ParallelStrategys",
    },
    "{name} reads norms of gradients that collectives store; ops.norm of a gradient is its norm": {
        "ops._grad_experimental.grad_comm_ops": "get_squared_device_local_norm_param",
    },
    "{name} tests or watches the hardware of an Ascend, and there is none": {
        "utils": "ExitByRequest RSCPluginHandle TFTCommValue comm_exec_order_check get_sdc_detect_result "
        "runtime_execution_order_check sdc_detect_start sdc_detect_stop stress_detect",
    },
    _SEVERAL: {
        "": "parameter_broadcast set_op_strategy_config sync_pipeline_shared_parameters TrainFaultTolerance "
        "export_split_mindir",
        "nn": "AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell OptTFTWrapper",
        "nn.wrap.loss_scale": "shard_grad_scale",
        "Parameter": "add_pipeline_stage",
        "ops": "reshard",
        "train": "TrainFaultTolerance export_split_mindir",
        "train.callback": "TrainFaultTolerance",
        "parallel": "parameter_broadcast set_op_strategy_config sync_pipeline_shared_parameters",
    },
    _CHECKPOINTS: {
        "": "convert_checkpoint_by_rank convert_checkpoints get_ckpt_path_with_strategy load_segmented_checkpoints "
        "merge_pipeline_strategys rank_list_for_convert rank_list_for_transform restore_group_info_list "
        "transform_checkpoint_by_rank transform_checkpoints unified_safetensors",
        "train": "get_ckpt_path_with_strategy restore_group_info_list",
        "train.serialization": "_get_merged_param_data get_ckpt_path_with_strategy merge_pipeline_strategys "
        "restore_group_info_list transform_checkpoints",
        "parallel": "convert_checkpoint_by_rank convert_checkpoints load_segmented_checkpoints "
        "merge_pipeline_strategys rank_list_for_convert rank_list_for_transform "
        "restore_group_info_list transform_checkpoint_by_rank transform_checkpoints "
        "unified_safetensors",
    },
    _COMPILER: {
        "": "enable_dynamic set_kernel_launch_capture Symbol mindio_preload set_mindio_server_info CustomPassType "
        "clear_op_infer clear_op_wrapper register_custom_backend register_custom_pass register_op_infer "
        "register_op_wrapper",
        "common.file_system": "mindio_preload set_mindio_server_info",
        "graph": "CustomPassType clear_op_infer clear_op_wrapper register_custom_backend register_custom_pass "
        "register_op_infer register_op_wrapper",
    },
    _MEMORY: {"": "MemPool PluggableAllocator UntypedStorage memory_replay use_mem_pool"},
    _LIMITS: {
        "": "StreamLimitCtx get_device_limit get_stream_limit reset_stream_limit set_device_limit set_stream_limit"
    },
    _SAVED: {"": "register_saved_tensors_hooks saved_tensors_hooks"},
    "{name} replaces operators while they run; msnb.intervene changes values, and msnb.watch looks at them": {
        "": "MsDispatchMode",
        "utils": "MsDispatchMode",
    },
    REWRITES: {"": "Node NodeType ScopedValue SymbolTree ValueType"},
    _THOR: {
        "": "ConvertModelUtils ConvertNetUtils",
        "nn": "Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor",
        "train": "ConvertModelUtils ConvertNetUtils",
        "train.train_thor": "ConvertModelUtils ConvertNetUtils",
    },
    _COUNTS: {
        "": "FlopsUtilizationCollector flops_collection",
        "common.api": "flops_collection",
        "train": "FlopsUtilizationCollector",
        "train.callback": "FlopsUtilizationCollector",
    },
    "{name} is of 4 bits, which are Ascend's; mindspore.int8 is the smallest integer here": {
        "": "qint4x2",
        "dtype": "qint4x2",
        "common.dtype": "qint4x2",
    },
    _PROTOBUF: {
        "train.mind_ir_pb2": "AttributeProto FunctionProto GraphProto ModelProto NodeProto TensorProto ValueInfoProto",
    },
    _STEPS: {"_c_expression": "_framework_profiler_step_end _framework_profiler_step_start"},
    _EXPERIENCE: {
        "ops.operations._rl_inner_ops": "BufferAppend BufferGetItem BufferSample PriorityReplayBufferCreate "
        "PriorityReplayBufferDestroy PriorityReplayBufferPush PriorityReplayBufferSample PriorityReplayBufferUpdate "
        "ReservoirReplayBufferCreate ReservoirReplayBufferDestroy ReservoirReplayBufferPush "
        "ReservoirReplayBufferSample TensorsQueueClear TensorsQueueClose TensorsQueueCreate TensorsQueueGet "
        "TensorsQueuePop TensorsQueuePut TensorsQueueSize",
    },
    "{name} keeps Tensors within a kernel; a list in Python keeps them, and ops.stack joins them": {
        "ops.operations._tensor_array": "TensorArray TensorArrayClear TensorArrayClose TensorArrayGather "
        "TensorArrayRead TensorArraySize TensorArrayStack TensorArrayWrite",
    },
    _ENVIRONMENT: {"ops.operations._rl_inner_ops": "EnvCreate EnvReset EnvStep"},
    "{name} hands Tensors from process to process; ops.AllGather and ops.Broadcast, which all call at once, do so": {
        "ops.operations._rl_inner_ops": "MuxReceive MuxSend",
    },
    "{name} is the kernel of a layer; nn.GRU and nn.LSTM are the layers": {
        "ops.operations._rl_inner_ops": "CudnnGRU GRUV2 LSTMV2",
    },
    "{name} assigns many Parameters at once; ops.assign in a loop over them is the same": {
        "ops.operations._rl_inner_ops": "BatchAssign",
    },
    "{name} sums rewards from the last one back; a loop over them in Python is the same": {
        "ops.operations._rl_inner_ops": "DiscountedReturn",
    },
    "{name} is a table that grows by keys; nn.Embedding has a table of fixed size": {"experimental": "MapParameter"},
    "{name} reads entries of a file; load_checkpoint returns its Parameters": {
        "train.serialization": "_load_map_parameter _parse_ckpt_proto",
    },
    _FEW_BITS: {
        "ops.operations._infer_ops": "QuantV2",
    },
    _SECRETS: {"": "load_obf_params_into_net obfuscate_ckpt"},
    "{name} draws how the loss looks around the weights; SummaryCollector writes its curve": {
        "": "SummaryLandscape",
        "train": "SummaryLandscape",
        "train.callback": "SummaryLandscape",
    },
    "{name} writes a graph that was changed by hand; export(net, x, file_name=..., file_format='MINDIR') writes one": {
        "": "save_mindir"
    },
}

_COLLECTIVE = (
    "all members of a group communicate at once here; ops.AllReduce, AllGather, ReduceScatter, Broadcast, AlltoAll, "
    "Reduce and mindspore.communication are there"
)
_ASCEND = "it is a kernel of Ascend's"
ABSENT: dict[str, dict[str, str]] = {
    _BETWEEN_TWO: {"ops": "NeighborExchange NeighborExchangeV2"},
    _COLLECTIVE: {
        "ops.communication": "gather_into_tensor scatter_tensor",
        "dataset.Dataset": "send recv",
        "dataset": "sync_wait_for_dataset",
        "ops": "gather_into_tensor recv_object_list scatter_tensor send_object_list AllGatherV AlltoAllV AlltoAllVC "
        "Barrier BatchISendIRecv P2POp "
        "ReduceScatterV Reshard TCPStore all_gather "
        "all_gather_into_tensor all_gather_into_tensor_uneven all_gather_matmul all_gather_object all_reduce "
        "all_to_all all_to_all_single all_to_all_v_c barrier batch_isend_irecv broadcast broadcast_object_list "
        "destroy_process_group gather_object get_backend get_global_rank get_group_rank get_process_group_ranks "
        "get_rank get_world_size init_process_group irecv is_available is_initialized isend matmul_reduce_scatter "
        "new_group recv reduce reduce_scatter reduce_scatter_tensor reduce_scatter_tensor_uneven scatter_object_list "
        "send set_comm_ops_inplace",
        "ops.operations": "kungfu_comm_ops",
        "communication": "get_comm_name",
        "communication.management": "get_comm_name",
    },
    f"{_ASCEND} for sparse attention; ops.flash_attention_score takes a mask": {
        "ops": "lightning_indexer nsa_compress nsa_compress_attention nsa_select_attention sparse_flash_attention",
    },
    f"{_ASCEND} for attention; ops.flash_attention_score, or nn.MultiheadAttention, computes the same": {
        "ops": "ApplyRotaryPosEmb GroupTopk PagedAttention PagedAttentionMask ReshapeAndCache "
        "fused_infer_attention_score incre_flash_attention moe_distribute_combine "
        "moe_distribute_dispatch moe_init_routing_v2 "
        "multi_scale_deformable_attn_function prompt_flash_attention ring_attention_update "
        "speed_fusion_attention",
        "ops.operations._inner_ops": "DecoderKVCache PromptKVCache",
        "nn.layer": "flash_attention",
    },
    "it is of MindSpore 1.8's transformers for several devices; nn.TransformerEncoder and its like are of one": {
        "nn": "TransformerOpParallelConfig TransformerRecomputeConfig",
        "parallel": "_transformer",
    },
    f"{_ASCEND}; ops.layer_norm or ops.rms_norm of the sum is the same": {"ops": "add_layer_norm add_rms_norm"},
    "it describes a kernel for MindSpore's compiler; msnb.custom_operator makes an operator of a Python function": {
        "ops": "CustomOpBuilder kernel ms_kernel prim_arg_register get_vm_impl_fn vm_impl_registry "
        "tensor_operator_registry",
    },
    "it fuses an update with a cast on the CPU alone; ops.AdamWeightDecay or nn.AdamWeightDecay computes it": {
        "ops": "FusedCastAdamWeightDecay",
    },
    f"{_ASCEND}; ops.iou is of boxes that are not turned": {"ops": "rotated_iou"},
    "4 and 8 bits of a number are Ascend's; mindspore.int8 and mindspore.float16 are the smallest types here": {
        "": "float8_e4m3fn float8_e5m2 hifloat8",
        "common": "float8_e4m3fn float8_e5m2 hifloat8",
        "dtype": "float8_e4m3fn float8_e5m2 hifloat8",
        "common.dtype": "float8_e4m3fn float8_e5m2 hifloat8",
    },
    "nn.Dense looks at its input by itself": {"nn.layer.basic": "check_dense_input_shape"},
    "it draws where windows stand; ops.fractional_max_pool2d is there, and ops.avg_pool2d for averages": {
        "ops": "FractionalAvgPool FractionalMaxPool",
    },
    "it updates on the CPU alone; nn.AdaFactor computes it": {"ops": "FusedAdaFactor FusedAdaFactorWithGlobalNorm"},
    "2.7.1 steps otherwise than its formula where sums are negative; ops.ApplyAdagradV2 or nn.Adagrad is there": {
        "ops": "ApplyAdagradDA",
    },
    "ops.crop_and_resize, or a data set's vision.RandomResizedCrop, cuts a part out of an image": {
        "ops": "SampleDistortedBoundingBoxV2",
    },
    "ops.interpolate resizes images, and ops.affine_grid with ops.grid_sample moves them": {"ops": "ScaleAndTranslate"},
    "it copies within memory; x[...] = value writes, x[...] reads": {"ops": "CopyWithSlice SelectView"},
    "nn.Unfold, or ops.unfold, has the windows of images": {"ops": "ExtractImagePatches"},
    "x += y, and its like, is the same": {
        "ops": "augassign_add augassign_div augassign_floordiv augassign_mod augassign_mul augassign_sub",
    },
    "a RowTensor has indices and values; ops.tensor_scatter_add adds them to a Tensor": {"ops": "row_tensor_add"},
    "COOTensor and CSRTensor are made by their names": {"ops": "make_coo_tensor make_csr_tensor"},
    "ops.range has the numbers from start to limit": {"ops": "tensor_range"},
    "ops.lerp takes a number for its weight, too": {"ops": "LerpScalar"},
    "x = ops.stop_gradient(x) is the same": {"ops": "stop_gradient_"},
    "each function is compiled once by itself; leave it out": {"ops": "Reusing"},
    "files of MindRecord are not encrypted here; keep them on a disk that is": {
        "mindrecord": "set_dec_mode set_enc_key set_enc_mode",
    },
    "msnb.Profiler and mindspore.profiler.profile(schedule=...) measure what they are told to": {
        "profiler": "DynamicProfilerMonitor EnvProfiler",
    },
    "del x frees the memory of a Tensor that nothing else refers to": {"Tensor": "delete_"},
    "a Parameter has it; a Tensor has no requires_grad": {"Tensor": "requires_grad_"},
    "it reads objects of a cloud by their addresses; MindDataset reads the same files from a disk": {
        "dataset": "OBSMindDataset",
    },
    "it draws lines into a running pipeline; GeneratorDataset and a function of map() can print what they are given": {
        "dataset": "debug",
    },
    "it reads videos; cv2.VideoCapture gives the pictures of one, and GeneratorDataset takes them": {
        "dataset.vision": "VideoDecoder read_video read_video_timestamps",
        "dataset.config": "get_video_backend set_video_backend",
    },
    "it is of audio, and not there yet; librosa and torchaudio compute it, and a function of map() may call them": {
        "dataset.audio": "InverseMelScale Vad",
    },
    "it builds MindSpore's C++ pipeline; the pipeline here is Python, and iterating over the data set runs it": {
        "dataset.Dataset": "create_ir_tree get_init_step iterator_bootstrap parse parse_tree post_parse pre_parse "
        "pre_process set_init_step to_json",
        "mindrecord.FileWriter": "check_all_worker_status check_worker_status",
    },
    "it is a hook of MindSpore's compiler for Parameters; Cell.register_forward_pre_hook sees the Cell": {
        "nn.Cell": "register_parameter_forward_hook",
    },
    _SAVED: {"nn.Cell": "register_saved_tensors_hooks"},
    _LIMITS: {
        "runtime": "StreamLimitCtx get_device_limit get_stream_limit reset_stream_limit set_device_limit "
        "set_stream_limit",
    },
    _MEMORY: {"runtime": "MemPool PluggableAllocator memory_replay set_kernel_launch_capture use_mem_pool"},
    _THOR: {"nn.layer": "Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor"},
    _SEVERAL: {"nn.optim": "AdaSumByDeltaWeightWrapCell AdaSumByGradWrapCell OptTFTWrapper"},
    "mindspore.{name} is the address that users import it from": {
        "common": "UntypedStorage register_saved_tensors_hooks saved_tensors_hooks DeviceCtx",
    },
    "mindspore.nn.{name} is the address that users import it from": {"nn.wrap": "TimeDistributed"},
    "mindspore.ops.{name} is the address that users import it from": {
        "ops.function": "clip_by_global_norm clip_by_norm clip_by_value reshard",
        "ops.functional": "AdaptiveMaxPool2D Median Roll UniqueConsecutive",
    },
    "a Python function may be cached without it; leave it out": {
        "dataset.transforms": "not_random",
        "dataset.vision": "not_random",
    },
    "nn.CosineSimilarity is the metric; ops.cosine_similarity computes it": {"nn.layer": "CosineSimilarity"},
    "it belongs to MindSpore's Primitives in C++; set_prim_instance_name, add_prim_attr and attrs are there": {
        "ops.Primitive": "add_attr del_attr get_attr_dict get_user_data set_const_input_indexes set_const_prim "
        "set_hook_fn set_inplace_prim set_prim_type set_signatures set_user_data",
    },
    "it is of parameter servers and of caches on a host, which msnb does not have": {
        "Parameter": "cache_enable cache_shape comm_fusion key parallel_optimizer parallel_optimizer_comm_recompute",
    },
    "it tests the hardware of an Ascend": {
        "tools": "get_sdc_detect_result sdc_detect_start sdc_detect_stop stress_detect",
    },
    "mindspore.export(net, x, file_name=..., file_format='ONNX') is the same": {"": "onnx"},
    "load_checkpoint and save_checkpoint with enc_key= read and write encrypted checkpoints": {"": "safeguard"},
    "it belongs to MindSpore's launcher; python -m msnb run starts a program": {"parallel": "distributed"},
    "it belongs to MindSpore's C++ Tensors; x.asnumpy() has the values, x.data_ptr() says where they are": {
        "Tensor": "getitem_index_info index_of_parent_ parent_tensor_ remove_hook "
        "set_device_address set_param_info setitem_index_info storage symbolic_shape untyped_storage wait_pipeline",
    },
    "Tensor.assign_value takes over the values of another Tensor": {"Tensor": "assign_value_cpp"},
    "np.from_dlpack(x), torch.from_dlpack(x) and their like read a Tensor as it is": {
        "Tensor": "to_dlpack",
        "utils": "to_dlpack",
    },
    "Tensor(np.from_dlpack(y)) reads what another library holds": {"Tensor": "from_dlpack", "utils": "from_dlpack"},
    "x.asnumpy() brings the values to the host, and np.save writes them": {"Tensor": "offload offload_file_path"},
    "Cell.to_float and amp.auto_mixed_precision choose the precision of a network": {
        "Tensor": "set_cast_dtype",
        "nn.Cell": "get_mixed_precision_type set_mixed_precision_type",
    },
    "mindspore.set_seed decides what is drawn": {"Tensor": "delta_seed"},
    "every Cell compiles by itself; net.program(x), or msnb.ir, shows what was compiled": {
        "nn.Cell": "compile_cache compile_phase compiled phase_cache",
    },
    "stages and slices are those of a compiled program; Cell.pipeline_stage and shard() say what they are to be": {
        "nn.Cell": "parallel_parameter_merge_net_dict parallel_parameter_name_list pipeline_segment "
        "remove_redundant_parameters",
    },
    "it is MindSpore's book-keeping; net.cells_and_names() and net.parameters_and_names() list what is there": {
        "nn.Cell": "T_destination cell_init_args jit_config_dict exist_names exist_objs global_cells "
        "total_instance_count",
    },
    "Cell.register_backward_hook registers a hook by itself": {"nn.Cell": "enable_backward_hook"},
    "it leaves parts of a training out to be faster; nn.TrainOneStepCell, and Model without boost_level, train whole": {
        "boost": "GroupLossScaleManager AutoBoost OptimizerProcess ParameterProcess BoostTrainOneStepCell "
        "BoostTrainOneStepWithLossScaleCell LessBN GradientFreeze FreezeOpt freeze_cell AdaSum DimReduce",
    },
    "it is ops.Custom": {"ops.operations": "Custom"},
    "GlobalComm.WORLD_COMM_GROUP is the name of the group of all": {
        "communication": "MCCL_WORLD_COMM_GROUP",
        "communication.management": "MCCL_WORLD_COMM_GROUP",
    },
    "it is a part of MindSpore's compiler, which XLA replaces; leave it out": {
        "ops": "DtypeToEnum DumpGradient MapCacheIdx PyExecute SliceGetItem TensorToTuple UpdateState environ_add "
        "environ_create environ_get environ_set is_dynamic_sequence_element_unknown is_sequence_shape_unknown "
        "is_sequence_value_unknown is_tensor_bool_cond iter_converter make_map_parameter make_row_tensor_inner "
        "ms_hasnext ms_next recompute_block",
    },
}


def _index_by_name(table):
    reasons = {}
    for why, modules in table.items():
        for module, names in modules.items():
            for name in names.split():
                reasons[f"{module}.{name}".lstrip(".")] = why.format(name=name)
    return reasons


RAISES: dict[str, str] = _index_by_name(USED_BY_FEW_LINES)
REASONS: dict[str, str] = _index_by_name(ABSENT)


def reason(path: str) -> str | None:
    """Return the reason why a name such as "ops.PagedAttention", or its parent, is not supported; None if it is not in
    the tables."""
    text = REASONS.get(path)
    if text is None and path.startswith("ops."):  # a submodule of ops may have the same name
        last = path.rpartition(".")[2]
        text = REASONS.get(f"ops.{last}") or next((w for p, w in REASONS.items() if p.endswith(f".{last}")), None)
    return reason(path.rpartition(".")[0]) if text is None and "." in path else text
